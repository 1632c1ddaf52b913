// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
        await host.close()
    }
}
