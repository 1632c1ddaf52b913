// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import WalletConnectors

/// A person's wallet: `wallet 4.20 coffee` pays, `wallet` alone shows what was paid.
@main
struct Wallet {
    static func main() async throws {
        let host = try WalletConnectors.host(file: "connectors.json")
        try await host.open().requireReady()
        let ledger = try LedgerClient(host)
        let arguments = CommandLine.arguments.dropFirst()
        if let amount = arguments.first.flatMap(LedgerClient.cents) {
            do throws(ConnectorError) {
                let balance = try await ledger.add(-amount, arguments.dropFirst().joined(separator: " "))
                print("paid \(try await ledger.text(amount)), balance \(try await ledger.text(balance))")
            } catch {
                print("not paid:", error.message)
            }
        } else {
            for entry in try await ledger.entries() { print(try await ledger.text(entry.cents), entry.text) }
        }
        await host.close()
    }
}
