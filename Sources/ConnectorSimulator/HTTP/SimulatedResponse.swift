// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// What a vendor answers: a status, header fields and a complete body.
package struct SimulatedResponse: Sendable {
    /// The HTTP status code.
    package var status: Int
    /// Without `Content-Length`, which the server adds.
    package var headers: HeaderFields
    /// Empty for 204 and 304.
    package var body: [UInt8]

    /// Answers `body` as it is.
    package init(status: Int, headers: HeaderFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Answers a JSON document with `Content-Type: application/json`.
    package init(status: Int = 200, headers: HeaderFields = [:], json: JSONValue) {
        self.init(status: status, headers: headers, body: Array(json.serialized().utf8))
        if self.headers["Content-Type"] == nil { self.headers.append("Content-Type", "application/json") }
    }

    /// Answers text, plain unless another media type is given.
    package init(status: Int = 200, headers: HeaderFields = [:], text: String, type: String = "text/plain") {
        self.init(status: status, headers: headers, body: Array(text.utf8))
        self.headers["Content-Type"] = type
    }

    /// The body as text; invalid UTF-8 is repaired.
    package var text: String {
        String(decoding: body, as: UTF8.self)
    }
}
