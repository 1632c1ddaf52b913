// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorSimulator
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import PlaceService
import Testing

/// The whole service, with its server, against simulators of the vendors in this process.
@Suite struct PlaceServiceTests {
    /// Beside the package's manifest.
    private static let file = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/connectors.json"

    @Test func `places, health and metrics are served, and an outage is answered with a time to retry`()
        async throws
    {
        let simulator = try Simulator()
        async let serving: Void = simulator.run()
        let server = "http://127.0.0.1:\(try await simulator.port)"
        let environment = Configuration.Environment(["NOMINATIM": "\(server)/nominatim", "PHOTON": "\(server)/photon"])
        var options = ConnectorHost.Options(environment: environment)
        options.waitsForRequiredGates = false
        let host = try ConnectorHost(file: Self.file, options: options)
        let (lines, announce) = AsyncStream.makeStream(of: String.self)
        let application = try PlaceService.application(host, port: 0, consolePort: 0) { announce.yield($0) }

        try await application.test(.live) { client in
            try await host.ready()
            let found = try await client.execute(uri: "/places?query=Berlin&limit=1", method: .get)
            #expect(found.status == .ok && String(buffer: found.body).contains("Berlin"))
            #expect(try await client.execute(uri: "/places", method: .get).status == .badRequest)
            #expect(try await client.execute(uri: "/places?query=Berlin&limit=99", method: .get).status == .badRequest)
            #expect(try await client.execute(uri: "/health", method: .get).status == .ok)

            let away = ["nominatim:status=503", "photon:status=503"]
            simulator.setFaults(try away.map { try Fault($0, vendors: simulator.vendors) })
            try await host.retry("geocoder")
            let health = try await client.execute(uri: "/health", method: .get)
            #expect(health.status == .serviceUnavailable && String(buffer: health.body).contains("503"))
            let refused = try await client.execute(uri: "/places?query=Berlin", method: .get)
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] != nil)

            simulator.setFaults([])
            try await host.retry("geocoder")
            #expect(try await client.execute(uri: "/health", method: .get).status == .ok)
            let metrics = try await client.execute(uri: "/metrics", method: .get)
            #expect(String(buffer: metrics.body).contains("# TYPE connector_gate_state"))
        }
        // The host has closed with the server.
        #expect(host.report.gates.allSatisfy { $0.state == .closed })
        announce.finish()
        let announced = await lines.reduce(into: []) { $0.append($1) }
        #expect(announced.contains { $0.hasPrefix("console: http://127.0.0.1:") })
        #expect(announced.contains { $0.hasPrefix("service: http://127.0.0.1:") })
        simulator.stop()
        try await serving
    }
}
