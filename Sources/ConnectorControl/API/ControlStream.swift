// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A stream of documents in one response.
package enum ControlStream {
    /// The format of the stream.
    package enum Format: Sendable, Hashable {
        /// Server-sent events, each with a name (HTML, section 9.2).
        case events
        /// JSON Lines: one document per line.
        case lines

        /// The media type of the response.
        package var contentType: String {
            switch self {
            case .events: "text/event-stream"
            case .lines: "application/jsonl"
            }
        }

        /// The format that an `Accept` field requests; nil if it requests no stream.
        init?(accept: String?) {
            let types = (accept ?? "").split(ascii: ",").map(\.mediaType)
            if types.contains("text/event-stream") {
                self = .events
            } else if types.contains("application/jsonl") || types.contains("application/x-ndjson") {
                self = .lines
            } else {
                return nil
            }
        }

        /// Serializes a document.
        ///
        /// - Parameter name: The name of the server-sent event.
        func part(_ name: String, _ document: JSONValue) -> [UInt8] {
            switch self {
            case .events: Array("event: \(name)\ndata: ".utf8) + document.utf8() + Array("\n\n".utf8)
            case .lines: document.utf8() + [UInt8(ascii: "\n")]
            }
        }

        /// A keep-alive without content; if writing it fails, the server knows that the client has disconnected.
        var keepAlive: [UInt8] {
            switch self {
            case .events: Array(":\n\n".utf8)
            case .lines: [UInt8(ascii: "\n")]
            }
        }
    }

    /// The maximum number of parts buffered for a slow client.
    static let capacity = 1000
    /// The interval between keep-alives.
    static let keepAliveInterval: Duration = .seconds(15)

    /// Which part is dropped when the buffer of a slow client is full.
    enum DropPolicy {
        /// The newest; the sender learns of it.
        case newest
        /// The oldest, so the last part always arrives.
        case oldest
    }

    /// The stream that a body produces until it returns or the reader stops; the latter cancels the body's task.
    ///
    /// - Parameter body: Produces the documents. Its argument sends one and returns false if it was dropped.
    static func parts(
        _ format: Format,
        dropping policy: DropPolicy,
        _ body: @escaping @Sendable (_ send: @escaping @Sendable (String, JSONValue) -> Bool) async -> Void
    ) -> AsyncStream<[UInt8]> {
        let (parts, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: policy == .newest ? .bufferingOldest(capacity) : .bufferingNewest(capacity)
        )
        let producer = Task {
            await body { name, document in
                if case .enqueued = continuation.yield(format.part(name, document)) { true } else { false }
            }
            continuation.finish()
        }
        let keepAlive = Task {
            while (try? await Task.sleep(for: keepAliveInterval)) != nil { continuation.yield(format.keepAlive) }
        }
        continuation.onTermination = { _ in
            producer.cancel()
            keepAlive.cancel()
        }
        return parts
    }
}
