// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient

/// What a keypad needs from an engine.
protocol Arithmetic: Sendable {
    /// The sum.
    func add(_ a: Double, _ b: Double) async throws -> Double
    /// The quotient.
    func divide(_ a: Double, by b: Double) async throws -> Double
}

/// What a formula bar needs from an engine.
protocol Evaluating: Sendable {
    /// The value of an expression.
    func evaluate(_ expression: String) async throws -> Double
}

/// What a receipt needs from an engine.
protocol Totalling: Sendable {
    /// The sum of many numbers.
    func total(_ numbers: [Double]) async throws -> Double
}

/// One object behind every interface; a test may use another.
extension Calculator: Arithmetic, Evaluating, Totalling {}
