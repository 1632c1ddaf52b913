// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorModel
import CalculatorScenes
import ConnectorConsole
import Testing

/// The calculator's scenes as values, with a false engine: no host, no platform.
@Suite struct CalculatorSceneTests {
    /// An engine that always answers 42, and one that never answers.
    private struct FalseFactory: ComputingFactory {
        let choices = ["deep", "broken"]

        func info(of choice: String) -> [(title: String, text: String)] { [("thought", "long")] }
        func engine(_ choice: String) throws -> any Evaluating { FalseEngine(isBroken: choice == "broken") }
    }

    private struct FalseEngine: Evaluating {
        var isBroken: Bool

        func evaluate(_ expression: String) async throws -> Double {
            guard !isBroken else { throw CancellationError() }
            return 42
        }
    }

    private let console: Console

    init() throws {
        var registry = ConsoleRegistry.componentsAlone
        Configurator(try CalculatorPresenter(FalseFactory())).register(in: &registry)
        console = Console(EmptyConsoleModel(), registry)
    }

    private func scene(_ place: CalculatorRoute) async -> Scene {
        let route = Route(place)
        return console.registry.scene(for: route, of: await console.snapshot(for: [route]))
    }

    /// Performs an act that a scene offers.
    private func act(_ name: String, in place: CalculatorRoute) async throws {
        let act = try #require(await scene(place).act("\(name) at \(Route(place))"), "\(name)")
        #expect(await !console.perform(act).isFailure)
    }

    private func display() async -> (text: String?, state: ViewState?) {
        let component = await scene(.part(.display)).component("display")
        return (component?.rows.first?.cells.first?.text, component?.state)
    }

    @Test func `keys are pressed on one scene, and seen on another`() async throws {
        #expect(await display().text == "0")
        for key in ["6", "*", "7"] { try await act(key, in: .part(.keypad)) }
        #expect(await display().text == "6*7")
        try await act("=", in: .part(.keypad))
        #expect(await display().text == "42")
        let history = await scene(.part(.history)).component("history")
        #expect(history?.rows.first?.cells.map(\.text) == ["6*7", "42"])
        try await act("recall 1", in: .part(.history))
        #expect(await display().text == "6*7")
        try await act("clear", in: .part(.history))
        #expect(await scene(.part(.history)).component("history")?.rows.isEmpty == true)
    }

    @Test func `an engine that is chosen on the info page shows its failure on the display`() async throws {
        try await act("choose broken", in: .part(.info))
        #expect(await scene(.part(.info)).component("facts")?.rows.map { $0.cells[1].text } == ["broken", "long"])
        for key in ["1", "="] { try await act(key, in: .part(.keypad)) }
        #expect(await display().state == .failed("CancellationError()"))
    }

    @Test func `each key has its own shortcut, and each place its own route`() async throws {
        let keys = await scene(.part(.keypad)).components.flatMap(\.rows).flatMap(\.acts)
        #expect(keys.count == 20 && Set(keys.compactMap(\.shortcut)).count == 20)
        let places: [CalculatorRoute] =
            [.desk(.history), .desk(.info)] + CalculatorRoute.Part.allCases.map { .part($0) }
        for place in places { #expect(Route(place).value(as: CalculatorRoute.self) == place) }
        #expect(CalculatorRoute(parts: ["with", "keypad"]) == nil && CalculatorRoute(parts: ["other"]) == nil)
    }
}
