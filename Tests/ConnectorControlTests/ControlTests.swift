// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

/// Tests that ask a host's API without a socket.
protocol ControlTests {}

extension ControlTests {
    /// A host with a plugin that does what it is told, and the host's API.
    func withAPI(
        _ connectors: String = #"[{"name": "a", "plugin": "calls"}]"#,
        plugin: String = "calls",
        _ body: (ConnectorHost, ControlAPI) async throws -> Void
    ) async throws {
        let host = try ConnectorHost.testing(connectors, plugins: [Fixtures.contract(plugin)])
        await host.open()
        try await body(host, ControlAPI(host))
        await host.close()
    }

    func post(_ path: String, _ body: String, accept: String? = nil) -> ServerRequest {
        var fields: HTTPFields = ["Content-Type": "application/json"]
        fields["Accept"] = accept
        return ServerRequest("POST", path, fields, body: Array(body.utf8))
    }

    func error(_ response: ServerResponse) throws -> JSONValue {
        try #require(try JSONValue(parsing: response.bytes)["errors"]?[0])
    }
}

extension ServerResponse {
    /// The complete body; empty for a stream.
    var bytes: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }

    /// Whether the body is a stream.
    var isStream: Bool { if case .stream = body { true } else { false } }
}
