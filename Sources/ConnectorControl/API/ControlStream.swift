// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Documents that are told one after the other, in one answer.
package enum ControlStream {
    /// How they are told apart.
    package enum Format: Sendable, Hashable {
        /// Server-sent events: the name is that of the event (HTML, section 9.2).
        case events
        /// A document a line.
        case lines

        /// The type of the answer.
        package var contentType: String {
            switch self {
            case .events: "text/event-stream"
            case .lines: "application/jsonl"
            }
        }

        /// What a client asks for; nil if that is no stream.
        init?(accept: String?) {
            let types = (accept ?? "").lowercased().split(separator: ",").map { type in
                type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
            }
            if types.contains("text/event-stream") {
                self = .events
            } else if types.contains("application/jsonl") || types.contains("application/x-ndjson") {
                self = .lines
            } else {
                return nil
            }
        }

        /// A document as a part of the answer.
        func part(_ name: String, _ document: JSONValue) -> [UInt8] {
            switch self {
            case .events: Array("event: \(name)\ndata: ".utf8) + document.utf8() + Array("\n\n".utf8)
            case .lines: document.utf8() + [UInt8(ascii: "\n")]
            }
        }

        /// A part that says nothing, by which a server learns that its client has gone.
        var pulse: [UInt8] {
            switch self {
            case .events: Array(":\n\n".utf8)
            case .lines: [UInt8(ascii: "\n")]
            }
        }
    }

    /// How many parts may wait for a slow client.
    static let capacity = 1000
    /// The time between two pulses.
    static let pulse: Duration = .seconds(15)

    /// Which parts are lost that a slow client leaves no room for.
    enum Loss {
        /// The newest; the teller learns of it.
        case newest
        /// The oldest: what is told last always arrives.
        case oldest
    }

    /// The parts that a body makes, until it returns or the reader stops.
    ///
    /// - Parameter body: Tells documents by a function that answers whether the document has room.
    static func parts(
        _ format: Format,
        losing loss: Loss,
        _ body: @escaping @Sendable (_ tell: @escaping @Sendable (String, JSONValue) -> Bool) async -> Void
    ) -> AsyncStream<[UInt8]> {
        let (parts, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: loss == .newest ? .bufferingOldest(capacity) : .bufferingNewest(capacity)
        )
        let telling = Task {
            await body { name, document in
                if case .enqueued = continuation.yield(format.part(name, document)) { true } else { false }
            }
            continuation.finish()
        }
        let beating = Task {
            while (try? await Task.sleep(for: pulse)) != nil { continuation.yield(format.pulse) }
        }
        continuation.onTermination = { _ in
            telling.cancel()
            beating.cancel()
        }
        return parts
    }
}
