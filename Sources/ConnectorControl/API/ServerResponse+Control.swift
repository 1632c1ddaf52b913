// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHTTPServer

extension ServerResponse {
    /// Creates a response with an error, as the document that `--json` prints for errors.
    ///
    /// - Parameter status: The HTTP status; nil to derive it from the error's code.
    package init(_ error: ConnectorError, status: Int? = nil) {
        self.init(error.document, status: status ?? error.code.status)
    }

    /// Creates a response with a stream of documents.
    ///
    /// - Parameter stream: Starts the producer, for a single reader; called once the server is ready to send. A response that the
    ///   server refuses to stream is dropped without a call of it, and therefore has no effect. Ending the iteration cancels the producer.
    init(_ format: ControlStream.Format, _ stream: @escaping @Sendable () -> AsyncStream<[UInt8]>) {
        self.init(
            status: 200,
            ["Content-Type": format.contentType],
            .stream { writer in
                for await part in stream() { try await writer.write(part) }
            }
        )
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
