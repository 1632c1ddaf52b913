// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CalculatorModel
public import ConnectorConsole

/// Wires every scene to its slice of the one presenter. No scene sees another's, and none sees the host.
public struct Configurator: Sendable {
    private let display: DisplayScene
    private let keypad: KeypadScene
    private let history: HistoryScene
    private let info: InfoScene

    /// Gives each scene its slice.
    public init(_ presenter: CalculatorPresenter) {
        display = DisplayScene(presenter: presenter)
        keypad = KeypadScene(presenter: presenter)
        history = HistoryScene(presenter: presenter)
        info = InfoScene(presenter: presenter)
    }

    /// Adds the calculator's scenes to those of a console.
    public func register(in registry: inout ConsoleRegistry) {
        registry.register(
            SceneDescriptor(CalculatorRoute.self, title: "Calculator") { [self] place, context in
                switch place {
                case .desk(let tab): desk(context, tab)
                case .part(.display): display.scene(context)
                case .part(.keypad): keypad.scene(context)
                case .part(.history): history.scene(context)
                case .part(.info): info.scene(context)
                }
            }
        )
    }

    /// The parts, mounted into one scene.
    private func desk(_ context: SceneContext, _ tab: CalculatorRoute.Part) -> Scene {
        let parts = context.slot(
            Slot("parts", .nested),
            [
                Slot.Entry("Display", Route(CalculatorRoute.part(.display))),
                Slot.Entry("Keypad", Route(CalculatorRoute.part(.keypad))),
            ]
        )
        let tabs = [("History", CalculatorRoute.Part.history), ("Info", .info)].map { title, part in
            Slot.Entry(title, Route(CalculatorRoute.part(part)), link: Route(CalculatorRoute.desk(part)))
        }
        return Scene(
            context.route,
            "Calculator",
            [parts, context.slot(Slot("tabs", .tabs), tabs, selected: tab == .info ? 1 : 0)]
        )
    }
}
