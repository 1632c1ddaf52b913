// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConsole
import ConnectorHost
import ConnectorManifest
import Synchronization

/// The calculations so far, oldest first.
final class History: Sendable {
    private let kept = Mutex<[String]>([])

    /// Adds a line.
    func add(_ line: String) {
        kept.withLock { $0.append(line) }
    }

    /// Every line.
    var lines: [String] { kept.withLock(\.self) }
}

/// The calculator in the console: the engine's operations, and its history.
enum CalculatorScene {
    /// The scene's route.
    static let route = Route(["calculator"])

    /// Registers the scene and its component with the console.
    static func register(in registry: inout ConsoleRegistry, _ calculator: GateClient, _ history: History) {
        registry.register(
            ComponentDescriptor<History>("calculator.history", as: .log) { history, component in
                component.rows = history.lines.enumerated().map { Row("\($0.offset)", [StyledText($0.element)]) }
            }
        )
        registry.register(
            SceneDescriptor(route.root, title: "Calculator") { context in
                let operations = calculator.capabilities.flatMap(\.operations).map { operation in
                    Row(
                        operation.name,
                        [StyledText(operation.name, .strong), StyledText("\(operation.signature)")],
                        link: .operation(operation.name, of: calculator.path)
                    )
                }
                let table = TableModel([.init("operation"), .init("signature")], operations)
                return Scene(
                    context.route,
                    "Calculator",
                    [
                        context.component("operations", title: "The engine can", table),
                        context.component("history", title: "It did", history),
                    ]
                )
            }
        )
    }
}
