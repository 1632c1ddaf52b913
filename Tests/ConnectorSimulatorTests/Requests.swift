// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest

@testable import ConnectorSimulator

/// A moment that all tests share.
let noon = Timestamp(milliseconds: 1_767_355_200_000)

extension SimulatedRequest {
    /// A request with a JSON body.
    static func json(
        _ method: String,
        _ target: String,
        _ body: JSONValue,
        headers: HTTPFields = [:],
        receivedAt: Timestamp = noon
    ) -> SimulatedRequest {
        var headers = headers
        headers["Content-Type"] = headers["Content-Type"] ?? "application/json"
        return SimulatedRequest(method, target, headers: headers, body: body.utf8(), receivedAt: receivedAt)
    }

    /// A request without a body.
    static func get(_ target: String, headers: HTTPFields = [:]) -> SimulatedRequest {
        SimulatedRequest("GET", target, headers: headers, receivedAt: noon)
    }
}

extension HTTPResponse {
    /// The body as JSON; null if it is not JSON.
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
}

extension Vendor {
    /// A vendor with its demonstration credentials.
    static func demo() -> Self {
        Self(credentials: AcceptedCredentials([demoCredentials]))
    }
}
