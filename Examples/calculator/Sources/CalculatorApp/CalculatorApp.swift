// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient
import ConnectorHost

/// Opens the engine, uses it through each of its interfaces, and closes it.
@main
struct CalculatorApp {
    static func main() async throws {
        let host = try ConnectorHost(file: CommandLine.arguments.dropFirst().first ?? "connectors.json")
        try await host.open().requireReady()
        let desk = try Configurator(host)
        print("mean", try await desk.keypad.mean(3, 4))
        print(await desk.formulas.line("(1 + 2) * 3 / 4"))
        print(await desk.formulas.line("1 / 0"))
        print(try await desk.receipt.total(of: [9.5, 20, 12.5]))
        let quotient = try await divide(1, by: 0, with: Calculator(host.gate("calculator")))
        print("1 / 0:", quotient ?? .nan)
        await host.close()
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
