// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient
import ConnectorConsole
import ConnectorConsoleTerminal
import ConnectorHost

#if Web
    import ConnectorConsoleWeb
#endif

/// Opens the engine, uses it through each of its interfaces, and closes it. With `--console`, it shows the console first. Built with
/// the trait `Web`, it also takes `--web`, which shows the console in a browser.
@main
struct CalculatorApp {
    static func main() async throws {
        let file = CommandLine.arguments.dropFirst().first { !$0.hasPrefix("--") }
        let host = try ConnectorHost(file: file ?? "connectors.json")
        try await host.open().requireReady()
        let desk = try Configurator(host)
        print("mean", try await desk.keypad.mean(3, 4))
        print(await desk.formulas.line("(1 + 2) * 3 / 4"))
        print(await desk.formulas.line("1 / 0"))
        print(try await desk.receipt.total(of: [9.5, 20, 12.5]))
        let quotient = try await divide(1, by: 0, with: Calculator(host.gate("calculator")))
        print("1 / 0:", quotient ?? .nan)
        if CommandLine.arguments.contains("--console") {
            let (route, registry) = try await scenes(host, desk)
            try await TerminalConsole.run(host, options: TerminalConsole.Options(route: route, registry: registry))
        }
        #if Web
            if CommandLine.arguments.contains("--web") {
                var options = WebConsole.Options()
                (options.route, options.registry) = try await scenes(host, desk)
                options.title = "Calculator"
                try await WebConsole.run(host, options: options) { link in print("console:", link) }
            }
        #endif
        await host.close()
    }

    /// The console's scenes, with the calculator among them, and the first route.
    static func scenes(_ host: ConnectorHost, _ desk: Configurator) async throws -> (Route, ConsoleRegistry) {
        let history = History()
        for formula in ["(1 + 2) * 3 / 4", "1 / 0"] { history.add(await desk.formulas.line(formula)) }
        var registry = ConsoleRegistry.standard
        CalculatorScene.register(in: &registry, try host.gate("calculator"), history)
        return (CalculatorScene.route, registry)
    }

    /// Divides, and tries a second time if that may help.
    ///
    /// - Returns: The quotient; nil if there is none.
    static func divide(_ a: Double, by b: Double, with calculator: Calculator) async throws -> Double? {
        do throws(ConnectorError) {
            return try await calculator.divide(a, by: b)
        } catch {
            if error.code == .invalid { return nil }
            guard error.isRetryable else { throw error }
            try await Task.sleep(for: error.retryAfter ?? .seconds(1))
            return try await calculator.divide(a, by: b)
        }
    }
}
