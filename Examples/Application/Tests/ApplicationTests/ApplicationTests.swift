// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorSimulator
import Testing

/// The application's own file, opened against the vendors' APIs in this process.
@Suite struct ApplicationTests {
    /// Beside the package's manifest.
    private static let file = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/connectors.json"

    @Test func `an event reaches the vendor, and one that the vendor refuses is a dead letter`() async throws {
        let simulator = try Simulator()
        async let serving: Void = simulator.run()
        let environment = Configuration.Environment(["SIMULATOR": "http://127.0.0.1:\(try await simulator.port)"])
        var options = ConnectorHost.Options(environment: environment)
        options.outbox = .memory
        let host = try ConnectorHost(file: Self.file, options: options)
        try await host.open().requireReady()

        let receipt = try await host.analytics("analytics").track("Order Completed", ["total": 42.5])
        try await receipt.delivered(within: .seconds(30))
        let body = try #require(simulator.received(by: "segment").last?.body)
        #expect(String(decoding: body, as: UTF8.self).contains("Order Completed"))

        simulator.setFaults([try Fault("segment:status=400", vendors: simulator.vendors)])
        let refused = try await host.analytics("analytics").track("Order Completed")
        await #expect(throws: ConnectorError.self) { try await refused.delivered(within: .seconds(30)) }
        #expect(host.outbox(of: "analytics")?.dead == 1)

        await host.close()
        simulator.stop()
        try await serving
    }
}
