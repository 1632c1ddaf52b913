// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What the presenter needs from an engine.
public protocol Evaluating: Sendable {
    /// The value of an expression.
    func evaluate(_ expression: String) async throws -> Double
}

/// The engines that there are.
public protocol ComputingFactory: Sendable {
    /// The names of the choices, in order; the first is used at first.
    var choices: [String] { get }
    /// What a person may know about a choice: which plugin it is, how often engines disagreed.
    func info(of choice: String) -> [(title: String, text: String)]
    /// The engine of a choice.
    func engine(_ choice: String) throws -> any Evaluating
}
