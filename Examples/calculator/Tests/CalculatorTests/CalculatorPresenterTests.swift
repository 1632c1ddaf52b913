// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorModel
import Testing

/// The presenter with a false engine: no host, no plugin.
@Suite struct CalculatorPresenterTests {
    /// Answers as it is told, and remembers nothing.
    private struct FalseEngine: Evaluating {
        var value: Double?

        func evaluate(_ expression: String) async throws -> Double {
            guard let value else { throw Refused() }
            return value
        }
    }

    private struct Refused: Error, CustomStringConvertible {
        var description: String { "refused" }
    }

    private struct FalseFactory: ComputingFactory {
        let choices = ["half", "whole", "broken"]
        func info(of choice: String) -> [(title: String, text: String)] { [("engine", choice)] }
        func engine(_ choice: String) throws -> any Evaluating {
            FalseEngine(value: ["half": 0.5, "whole": 42][choice])
        }
    }

    private func type(_ text: String, on keypad: any KeypadPresenting) async {
        for character in text { await keypad.press(character == "=" ? .equals : .character(character)) }
    }

    @Test func `typed keys are shown, and replaced by the result`() async throws {
        let presenter = try CalculatorPresenter(FalseFactory())
        let display: any DisplayPresenting = presenter
        await type("(1+2)/6", on: presenter)
        #expect(display.entry == "(1+2)/6")
        await presenter.press(.back)
        #expect(display.entry == "(1+2)/")
        await type("6=", on: presenter)
        #expect(display.entry == "0.5" && display.failure == nil && !display.isBusy)
    }

    @Test func `an operator continues with the result, and a digit starts over`() async throws {
        let presenter = try CalculatorPresenter(FalseFactory())
        await type("1/2=+", on: presenter)
        #expect(presenter.entry == "0.5+")
        await type("1=7", on: presenter)
        #expect(presenter.entry == "7")
        await presenter.press(.clear)
        #expect(presenter.entry == "")
    }

    @Test func `a failure is shown, kept in the history, and gone with the next key`() async throws {
        let presenter = try CalculatorPresenter(FalseFactory())
        try presenter.choose("broken")
        await type("1/0=", on: presenter)
        #expect(presenter.failure == "refused" && presenter.entry == "1/0")
        #expect(presenter.calculations.map(\.outcome) == ["refused"])
        await presenter.press(.back)
        #expect(presenter.failure == nil && presenter.entry == "1/")
    }

    @Test func `the history is the latest first, and can be entered again`() async throws {
        let presenter = try CalculatorPresenter(FalseFactory())
        await type("1=2=", on: presenter)
        let history: any HistoryPresenting = presenter
        #expect(history.calculations.map(\.expression) == ["2", "1"])
        history.recall(history.calculations[1])
        #expect(presenter.entry == "1")
        history.clearHistory()
        #expect(history.calculations == [])
    }

    @Test func `an engine that is chosen calculates from then on, and every change is announced`() async throws {
        let presenter = try CalculatorPresenter(FalseFactory())
        let info: any InfoPresenting = presenter
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        info.onChange { continuation.yield() }
        try info.choose("whole")
        #expect(info.choice == "whole" && info.facts.map(\.text) == ["whole"])
        await type("1=", on: presenter)
        #expect(presenter.entry == "42")
        continuation.finish()
        #expect(await changes.reduce(0) { count, _ in count + 1 } == 4)
    }
}
