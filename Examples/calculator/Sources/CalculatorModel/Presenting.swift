// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What every slice of the presenter has.
public protocol CalculatorPresenting: Sendable {
    /// Called after each change, on any thread.
    func onChange(_ changed: @escaping @Sendable () -> Void)
}

/// What the display sees of the presenter.
public protocol DisplayPresenting: CalculatorPresenting {
    /// What was entered, or the result.
    var entry: String { get }
    /// Why there is no result; nil if there is one, or none is wanted.
    var failure: String? { get }
    /// Whether the engine is at work.
    var isBusy: Bool { get }
}

/// What the keypad sees of the presenter.
public protocol KeypadPresenting: CalculatorPresenting {
    /// Presses a key; returns when its effect can be seen.
    func press(_ key: Key) async
}

/// What the history sees of the presenter.
public protocol HistoryPresenting: CalculatorPresenting {
    /// The calculations so far, the latest first.
    var calculations: [Calculation] { get }
    /// Enters an earlier expression again.
    func recall(_ calculation: Calculation)
    /// Forgets every calculation.
    func clearHistory()
}

/// What the info page sees of the presenter.
public protocol InfoPresenting: CalculatorPresenting {
    /// The engines to choose from.
    var choices: [String] { get }
    /// The engine that calculates.
    var choice: String { get }
    /// Lets another engine calculate from now on.
    func choose(_ choice: String) throws
    /// What is known about the engine.
    var facts: [(title: String, text: String)] { get }
}

/// An expression and its outcome.
public struct Calculation: Sendable, Hashable, Identifiable {
    /// Unique among the calculations of a presenter.
    public let id: Int
    /// What was entered.
    public let expression: String
    /// The result, or why there is none.
    public let outcome: String
}
