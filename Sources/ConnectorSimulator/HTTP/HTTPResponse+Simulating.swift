// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension HTTPResponse {
    /// Creates a response with a JSON document and `Content-Type: application/json`.
    package init(status: Int = 200, headers: HTTPFields = [:], json: JSONValue) {
        self.init(status: status, headers: headers, body: Array(json.serialized().utf8))
        if self.headers["Content-Type"] == nil { self.headers.append("Content-Type", "application/json") }
    }

    /// Creates a response with text.
    package init(status: Int = 200, headers: HTTPFields = [:], text: String, type: String = "text/plain") {
        self.init(status: status, headers: headers, body: Array(text.utf8))
        self.headers["Content-Type"] = type
    }

    /// The body as text; invalid UTF-8 is repaired.
    package var text: String {
        String(decoding: body, as: UTF8.self)
    }
}
