// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import WalletConnectors

/// A shop's till: `till 4.20 coffee` sells and files a receipt, `till` alone shows the sum.
@main
struct Till {
    static func main() async throws {
        let host = try WalletConnectors.host(file: "connectors.json")
        try await host.open().requireReady()
        let ledger = try LedgerClient(host)
        let arguments = CommandLine.arguments.dropFirst()
        if let amount = arguments.first.flatMap(LedgerClient.cents) {
            let text = arguments.dropFirst().joined(separator: " ")
            let sum = try await ledger.add(amount, text)
            let receipt = "\(text): \(try await ledger.text(amount))\n"
            let number = try await ledger.entries().count
            // A connector of its own, beside those of the house.
            try await host.files("receipts").put(
                "\(number).txt",
                .bytes(Array(receipt.utf8)),
                contentType: "text/plain"
            )
            print("receipt \(number), \(try await ledger.text(sum)) in the till")
        } else {
            let sum = try await ledger.entries().reduce(0) { $0 + $1.cents }
            print(try await ledger.text(sum), "in the till")
        }
        await host.close()
    }
}
