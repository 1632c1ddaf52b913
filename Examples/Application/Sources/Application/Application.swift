// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient
import ConnectorHost

@main
struct Application {
    static func main() async throws {
        let host = try ConnectorHost(file: "connectors.json")
        try await host.open().requireReady()

        let place = try await host.geocoder("geocoder").geocode("Brandenburg Gate").first
        print("found:", place?.formattedAddress ?? "nothing")

        let notes = try host.database("database")
        let note = try await notes.create(["title": "Milk", "done": false], in: "notes")
        print("stored:", try await notes.get(note.id, in: "notes").data["title"] ?? "nothing")

        try await host.analytics("analytics").track("Order Completed", ["total": 42.5])
        try await host.crash("crash").report(OutOfStock(article: "Milk"))
        // Both events are on disk by now. Those not delivered within five seconds are delivered at the next start.
        try await host.flush(within: .seconds(5))

        print("calculated:", try await Calculator(host.gate("calculator")).divide(1, by: 8))
        print("greeted:", try await host.gate("greeter").call("greet", ["name": "Ada"]))
        await host.close()
    }
}

/// An error for the crash reporter.
struct OutOfStock: Error {
    var article: String
}
