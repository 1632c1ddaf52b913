// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The response to a request.
package struct ControlResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The media type of the body.
    package var contentType: String
    /// The body; if there is a ``stream``, its beginning.
    package var body: [UInt8]
    /// Starts to produce the parts that follow ``body``, for a single reader; nil for none. Ending the iteration cancels the producer.
    ///
    /// A response that the server refuses to stream is dropped without a call of it, and therefore has no effect.
    package var stream: (@Sendable () -> AsyncStream<[UInt8]>)?
    /// The methods that the path supports, in the response to OPTIONS or to an unsupported method; otherwise nil.
    package var allow: String?

    /// The media type of documents.
    package static let json = "application/json"
    /// The media type of plain text.
    package static let text = "text/plain; charset=utf-8"

    /// Creates a response with a JSON document, as `--json` prints it.
    package init(_ document: JSONValue, status: Int = 200) {
        self.status = status
        contentType = Self.json
        body = document.utf8()
    }

    /// Creates a response with a text.
    package init(text: String, contentType: String = Self.text, status: Int = 200) {
        self.status = status
        self.contentType = contentType
        body = Array(text.utf8)
    }

    /// Creates a response with an error, as the document that `--json` prints for errors.
    ///
    /// - Parameter status: The HTTP status; nil to derive it from the error's code.
    package init(_ error: ConnectorError, status: Int? = nil) {
        self.init(error.document, status: status ?? error.code.status)
    }

    /// Creates a response with a stream of documents.
    ///
    /// - Parameter stream: Starts the producer; called at most once, when the server is ready to send.
    init(_ format: ControlStream.Format, _ stream: @escaping @Sendable () -> AsyncStream<[UInt8]>) {
        status = 200
        contentType = format.contentType
        body = []
        self.stream = stream
    }
}

extension ConnectorError {
    /// The document that `--json` prints for the error.
    var document: JSONValue { ["version": 1, "errors": .array([json])] }
}

extension ConnectorError.Code {
    /// The HTTP status for an error with this code.
    package var status: Int {
        switch self {
        case .unknownConnector, .missing: 404
        case .conflict: 409
        case .invalid, .unsupported, .tooLarge: 422
        case .rateLimited: 429
        case .notOpen, .unavailable, .storage, .cancelled: 503
        case .timedOut: 504
        // Failures of a plugin or its vendor.
        default: 502
        }
    }
}
