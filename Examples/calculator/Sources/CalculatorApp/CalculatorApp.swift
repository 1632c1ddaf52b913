// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorModel
import CalculatorScenes
import ConnectorConsole
import ConnectorConsoleTerminal
import ConnectorConsoleWeb
import ConnectorHost

/// Calculates: the expressions in its arguments, or what is typed into the terminal, or with `--web` into a page.
@main
struct CalculatorApp {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isWeb = arguments.contains("--web")
        arguments.removeAll { $0 == "--web" }
        let host = try ConnectorHost(file: "connectors.json")
        try await host.open().requireReady()
        let presenter = try CalculatorPresenter(HostEngines(host))
        if let option = arguments.firstIndex(of: "--engine"), option + 1 < arguments.count {
            try presenter.choose(arguments[option + 1])
            arguments.removeSubrange(option...option + 1)
        }
        var registry = ConsoleRegistry.standard
        Configurator(presenter).register(in: &registry)
        let route = Route(CalculatorRoute.desk(.history))
        let console = CalculatorConsole(host, presenter)
        if isWeb {
            var options = WebConsole.Options()
            (options.route, options.registry, options.title) = (route, registry, "Calculator")
            try await WebConsole.run(console, options: options) { link in print("console:", link) }
        } else if arguments.isEmpty {
            try await TerminalConsole.run(console, options: TerminalConsole.Options(route: route, registry: registry))
        } else {
            for expression in arguments { print(await result(of: expression, presenter)) }
        }
        await host.close()
    }

    /// Types an expression, and reads the display.
    private static func result(
        of expression: String,
        _ calculator: some KeypadPresenting & DisplayPresenting
    ) async -> String {
        await calculator.press(.clear)
        for character in expression where character != " " { await calculator.press(.character(character)) }
        await calculator.press(.equals)
        return calculator.failure.map { "\(expression): \($0)" } ?? "\(expression) = \(calculator.entry)"
    }
}
