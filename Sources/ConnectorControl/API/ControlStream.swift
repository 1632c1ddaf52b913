// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

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

        /// The format that an `Accept` field requests, by the weights of its types (RFC 9110, section 12.5.1); nil if it requests no
        /// stream.
        ///
        /// Only the name of a stream's type requests one, and not a wildcard. If a stream and a document weigh the same, it is the stream.
        ///
        /// - Parameter orDocument: Whether the client can have a JSON document instead.
        init?(accept: String?, orDocument: Bool) {
            var weights: [String: Double] = [:]
            for type in (accept ?? "").split(ascii: ",") { weights[type.mediaType] = type.weight }
            let events = weights["text/event-stream"] ?? 0
            let lines = weights["application/jsonl"] ?? weights["application/x-ndjson"] ?? 0
            let document = weights[ServerResponse.json] ?? weights["application/*"] ?? weights["*/*"] ?? 0
            let stream = max(events, lines)
            guard stream > 0, !orDocument || stream >= document else { return nil }
            self = events >= lines ? .events : .lines
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
        ///
        /// JSON Lines has no empty lines, but blanks may precede a document.
        var keepAlive: [UInt8] {
            switch self {
            case .events: Array(":\n\n".utf8)
            case .lines: [UInt8(ascii: " ")]
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

extension Substring {
    /// The weight of a type in an `Accept` field; 1 if it has none, or none that is a number.
    fileprivate var weight: Double {
        let parameters = split(ascii: ";").dropFirst().map { parameter in parameter.utf8.filter { !$0.isBlank } }
        let weight = parameters.first { $0.starts(with: "q=".utf8) || $0.starts(with: "Q=".utf8) }
        return weight.flatMap { Double(String(decoding: $0.dropFirst(2), as: UTF8.self)) } ?? 1
    }
}
