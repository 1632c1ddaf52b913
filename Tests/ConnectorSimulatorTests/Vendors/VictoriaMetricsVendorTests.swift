// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct VictoriaMetricsVendorTests {
    private let server = VictoriaMetricsVendor(credentials: AcceptedCredentials([[:]]))

    private func exported(_ name: String) throws -> [JSONValue] {
        try server.respond(to: .get("/api/v1/export?match[]=\(name)")).text.split(separator: "\n")
            .map { try JSONValue(parsing: String($0)) }
    }

    @Test func `samples of one series are exported together, with the extra labels`() throws {
        let lines = """
            {"metric":{"__name__":"a","x":"1"},"values":[1,2],"timestamps":[10,20]}
            {"metric":
            {"metric":{"x":"1","__name__":"a"},"values":[3],"timestamps":[30]}
            {"metric":{"__name__":"b"},"values":[3],"timestamps":[99999999999999]}
            """
        let request = SimulatedRequest("POST", "/api/v1/import?extra_label=job%3Dshop", body: Array(lines.utf8))
        #expect(server.respond(to: request).status == 204)
        #expect(
            try exported("a") == [
                [
                    "metric": ["__name__": "a", "job": "shop", "x": "1"], "values": [1, 2, 3],
                    "timestamps": [10, 20, 30],
                ]
            ]
        )
        #expect(try exported("b").isEmpty)
    }

    @Test func `credentials are required where some are configured, but for health`() {
        let server = VictoriaMetricsVendor.demo()
        #expect(server.respond(to: .get("/health")).text == "OK")
        #expect(server.respond(to: SimulatedRequest("POST", "/api/v1/import")).status == 401)
        let headers: HTTPFields = ["Authorization": "Basic \(Base64.encode(Array("demo:demo-password".utf8)))"]
        #expect(server.respond(to: SimulatedRequest("POST", "/api/v1/import", headers: headers)).status == 204)
        #expect(server.respond(to: SimulatedRequest("GET", "/api/v1/x", headers: headers)).status == 400)
    }
}
