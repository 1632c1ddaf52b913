// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The calculator's state and what keys do to it: one object, of which each scene knows only its own protocol.
public final class CalculatorPresenter: DisplayPresenting, KeypadPresenting, HistoryPresenting, InfoPresenting {
    fileprivate struct State {
        var entry = ""
        /// Whether the entry is a result, which a digit replaces and an operator continues with.
        var isResult = false
        var failure: String?
        var isBusy = false
        var calculations: [Calculation] = []
        var count = 0
        var choice: String
        var engine: any Evaluating
        var listeners: [@Sendable () -> Void] = []
    }

    private let factory: any ComputingFactory
    private let state: Mutex<State>
    /// The longest expression, in characters.
    private static let entryLimit = 200
    /// How many calculations are remembered.
    private static let historyLimit = 100

    /// Uses the first engine of a factory.
    public init(_ factory: any ComputingFactory) throws {
        self.factory = factory
        let choice = factory.choices.first ?? ""
        state = Mutex(State(choice: choice, engine: try factory.engine(choice)))
    }

    /// Calls a closure after each change.
    public func onChange(_ changed: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(changed) }
    }

    @discardableResult
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let value = state.withLock { state in body(&state) }
        for listener in state.withLock(\.listeners) { listener() }
        return value
    }

    // MARK: Display

    /// What was entered, or the result.
    public var entry: String { state.withLock(\.entry) }
    /// Why there is no result.
    public var failure: String? { state.withLock(\.failure) }
    /// Whether the engine is at work.
    public var isBusy: Bool { state.withLock(\.isBusy) }

    // MARK: Keypad

    /// Presses a key.
    public func press(_ key: Key) async {
        guard key == .equals else { return change { $0.press(key, limit: Self.entryLimit) } }
        let work = change { state -> (expression: String, engine: any Evaluating)? in
            guard !state.isBusy, !state.entry.isEmpty else { return nil }
            state.isBusy = true
            return (state.entry, state.engine)
        }
        guard let work else { return }
        let result: Result<Double, any Error>
        do {
            result = .success(try await work.engine.evaluate(work.expression))
        } catch {
            result = .failure(error)
        }
        change { $0.end(work.expression, result, limit: Self.historyLimit) }
    }

    // MARK: History

    /// The calculations so far, the latest first.
    public var calculations: [Calculation] { state.withLock(\.calculations) }

    /// Enters an earlier expression again.
    public func recall(_ calculation: Calculation) {
        change { ($0.entry, $0.isResult, $0.failure) = (calculation.expression, false, nil) }
    }

    /// Forgets every calculation.
    public func clearHistory() {
        change { $0.calculations = [] }
    }

    // MARK: Info

    /// The engines to choose from.
    public var choices: [String] { factory.choices }
    /// The engine that calculates.
    public var choice: String { state.withLock(\.choice) }
    /// What is known about the engine.
    public var facts: [(title: String, text: String)] { factory.info(of: choice) }

    /// Lets another engine calculate from now on.
    public func choose(_ choice: String) throws {
        let engine = try factory.engine(choice)
        change { ($0.choice, $0.engine) = (choice, engine) }
    }
}

extension CalculatorPresenter.State {
    /// The effect of any key but the one that evaluates.
    fileprivate mutating func press(_ key: Key, limit: Int) {
        failure = nil
        switch key {
        case .clear: entry = ""
        case .back where isResult: entry = ""
        case .back: entry = String(entry.dropLast())
        case .character(let character):
            if isResult, !key.isOperator { entry = "" }
            if entry.count < limit { entry.append(character) }
        case .equals: break
        }
        isResult = false
    }

    /// Shows and remembers what an engine answered.
    fileprivate mutating func end(_ expression: String, _ result: Result<Double, any Error>, limit: Int) {
        isBusy = false
        let outcome: String
        switch result {
        case .success(let value):
            outcome = Self.text(value)
            (entry, isResult, failure) = (outcome, true, nil)
        case .failure(let error):
            outcome = "\(error)"
            failure = outcome
        }
        count += 1
        calculations.insert(Calculation(id: count, expression: expression, outcome: outcome), at: 0)
        if calculations.count > limit { calculations.removeLast() }
    }

    /// The number as text, without a fraction that is zero.
    private static func text(_ value: Double) -> String {
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
