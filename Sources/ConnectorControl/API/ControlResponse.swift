// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The answer to a request.
package struct ControlResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The type of the body.
    package var contentType: String
    /// The body; its beginning, if ``stream`` goes on with it.
    package var body: [UInt8]
    /// What follows the body, part by part, for one reader. Whoever stops reading ends what makes the parts.
    package var stream: AsyncStream<[UInt8]>?
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
    ///
    /// - Parameter status: Nil for the one that suits the error.
    package init(_ error: ConnectorError, status: Int? = nil) {
        self.init(error.document, status: status ?? error.status)
    }

    /// Answers with documents, one after the other.
    init(_ format: ControlStream.Format, _ stream: AsyncStream<[UInt8]>) {
        status = 200
        contentType = format.contentType
        body = []
        self.stream = stream
    }
}

extension ConnectorError {
    /// The document that `--json` prints for the error.
    var document: JSONValue { ["version": 1, "errors": .array([json])] }

    /// The HTTP status of an error that is no fault of the request's form.
    fileprivate var status: Int {
        switch code {
        case .unknownConnector, .missing: 404
        case .conflict: 409
        case .invalid, .unsupported, .tooLarge: 422
        case .rateLimited: 429
        case .notOpen, .unavailable, .storage, .cancelled: 503
        case .timedOut: 504
        // What a plugin or its vendor did.
        default: 502
        }
    }
}
