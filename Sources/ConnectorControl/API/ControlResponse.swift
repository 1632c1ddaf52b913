// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// An answer of the API.
package struct ControlResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The type of the body.
    package var contentType: String
    /// The body.
    package var body: [UInt8]
    /// The methods that the path takes, for a request of another one.
    package var allow: String?

    /// The type of documents.
    package static let json = "application/json"
    /// The type of short texts.
    package static let text = "text/plain; charset=utf-8"

    /// Answers with a document, as `--json` prints it.
    package init(_ document: JSONValue, status: Int = 200) {
        self.status = status
        contentType = Self.json
        body = document.utf8()
    }

    /// Answers with a text.
    package init(text: String, contentType: String = Self.text, status: Int = 200) {
        self.status = status
        self.contentType = contentType
        body = Array(text.utf8)
    }

    /// Answers with an error, in the document that `--json` prints for errors.
    package init(_ error: ConnectorError, status: Int) {
        self.init(["version": 1, "errors": .array([error.json])], status: status)
    }
}
