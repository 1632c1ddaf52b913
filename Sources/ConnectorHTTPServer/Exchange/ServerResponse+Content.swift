// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension ServerResponse {
    /// The media type of JSON documents.
    package static let json = "application/json"
    /// The media type of plain text.
    package static let text = "text/plain; charset=utf-8"

    /// Creates a response with a JSON document.
    package init(_ document: JSONValue, status: Int = 200) {
        self.init(status: status, ["Content-Type": Self.json], .bytes(document.utf8()))
    }

    /// Creates a response with a text.
    package init(text: String, contentType: String = Self.text, status: Int = 200) {
        self.init(status: status, ["Content-Type": contentType], .bytes(Array(text.utf8)))
    }

    /// Creates the refusal of a malformed request.
    init(_ fault: RequestFault) {
        self.init(text: "\(fault.reason)\n", status: fault.status)
        isLast = true
    }
}
