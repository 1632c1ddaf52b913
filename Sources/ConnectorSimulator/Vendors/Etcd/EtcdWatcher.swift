// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A client that watches a range.
struct EtcdWatcher: Sendable {
    var range: EtcdRange
    /// The first revision that was not sent to the client.
    var next: Int64
    var withPrevious: Bool
    /// Whether the client wants puts and deletions.
    var kinds: (puts: Bool, deletions: Bool)
    var lines: AsyncStream<[UInt8]>.Continuation

    /// Sends changes to the client; ends the watch if the client reads too slowly.
    mutating func send(_ events: [EtcdEvent], header: JSONValue) {
        let new = events.filter { event in
            event.pair.modified >= next && range.contains(event.pair.key)
                && (event.isDeletion ? kinds.deletions : kinds.puts)
        }
        guard let last = new.last else { return }
        next = last.pair.modified + 1
        let list = JSONValue.array(new.map { $0.json(withPrevious: withPrevious) })
        if case .dropped = lines.yield(Self.line(["header": header, "events": list])) { lines.finish() }
    }

    /// A message of a watch, as a line of the stream.
    static func line(_ result: JSONObject) -> [UInt8] {
        JSONValue.object(["result": .object(result)]).utf8() + [UInt8(ascii: "\n")]
    }
}
