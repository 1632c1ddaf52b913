// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient
import ConnectorConsole
import ConnectorConsoleTerminal
import ConnectorHost

/// Opens the engine, uses it through each of its interfaces, and closes it; with `--console`, shows it before it closes.
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
        if CommandLine.arguments.contains("--console") { try await show(host, desk) }
        await host.close()
    }

    /// Shows the host on the terminal, with the calculator as one of its scenes.
    static func show(_ host: ConnectorHost, _ desk: Configurator) async throws {
        let history = History()
        for formula in ["(1 + 2) * 3 / 4", "1 / 0"] { history.add(await desk.formulas.line(formula)) }
        var options = TerminalConsole.Options(route: CalculatorScene.route)
        CalculatorScene.register(in: &options.registry, try host.gate("calculator"), history)
        try await TerminalConsole.run(host, options: options)
    }

    /// Divides, once more if that may help.
    ///
    /// - Returns: Nil if there is no quotient.
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
