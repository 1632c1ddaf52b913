// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHost
package import ConnectorOutbox

/// The documents of `connector-host outbox --json`, which the API also returns.
package enum OutboxDocument {
    /// The statistics of each connector's queue.
    package static func statistics(_ statistics: [String: QueueStatistics]) -> JSONValue {
        ["version": 1, "outboxes": .array(statistics.sorted { $0.key < $1.key }.map { $1.json(of: $0) })]
    }

    /// One event, at each connector that receives it; null without records.
    package static func event(_ records: [OutboxRecord], showsPayload: Bool) -> JSONValue {
        guard let first = records.first else { return .null }
        var object: JSONObject = [
            "version": 1,
            "id": .string(first.event.id),
            "capability": .string(first.event.kind.capability),
            "operation": .string(first.event.kind.operation),
            "createdAt": .string(first.event.createdAt.description),
        ]
        if showsPayload { object["event"] = (try? JSONValue(parsing: first.event.payload, file: "")) ?? .null }
        object["connectors"] = .array(records.map(\.json))
        return .object(object)
    }

    /// Dead letters.
    ///
    /// - Parameter next: The cursor of the next page; nil for the last page.
    package static func dead(_ records: [OutboxRecord], next: RecordCursor?) -> JSONValue {
        let letters = records.map { record -> JSONValue in
            var object: JSONObject = [
                "id": .string(record.event.id),
                "connector": .string(record.path),
                "capability": .string(record.event.kind.capability),
                "operation": .string(record.event.kind.operation),
                "createdAt": .string(record.event.createdAt.description),
            ]
            object.set("code", record.attempts.last?.failure?.code.rawValue)
            object.set("reason", record.attempts.last?.failure?.reason)
            return .object(object)
        }
        var object: JSONObject = ["version": 1, "dead": .array(letters)]
        object.set("next", next?.description)
        return .object(object)
    }

    /// A regular expression for cursors.
    static let cursorPattern = #"^(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\..+$"#

    /// The number of events that were replayed or dropped.
    ///
    /// - Parameters:
    ///   - done: The member's name: `replayed` or `dropped`.
    ///   - errors: Why others were not.
    package static func count(_ done: String, _ count: Int, errors: [ConnectorError] = []) -> JSONValue {
        var object = JSONObject([("version", 1), (done, .integer(Int64(count)))])
        if !errors.isEmpty { object["errors"] = .array(errors.map(\.json)) }
        return .object(object)
    }

    // MARK: Errors

    /// The connectors at or below a path, including those known only to the outbox because the file no longer names them.
    ///
    /// - Throws: `unknown-connector` if there are none.
    package static func targets(
        of path: String,
        among known: Set<String>,
        _ configuration: Configuration
    ) throws(ConnectorError) -> Set<String> {
        let known = known.union(configuration.allConnectors.map(\.path))
        let targets = known.filter { $0 == path || $0.hasPrefix(path + "/") }.union(
            configuration.leaves(placedAt: path)
        )
        guard targets.isEmpty else { return targets }
        throw ConnectorError(
            .unknownConnector,
            "there is no connector \"\(path.excerpt)\"",
            fix: suggestion(for: path, among: known.sorted())
        )
    }

    /// The error for the id of an unknown event, or of one that is only at other connectors.
    ///
    /// - Parameters:
    ///   - path: The connector at which it is not; nil for any.
    ///   - others: The records of the event at other connectors.
    package static func unknownEvent(
        _ id: String,
        at path: String? = nil,
        butAt others: [OutboxRecord] = []
    ) -> ConnectorError {
        if let path, !others.isEmpty {
            let places = Set(others.map(\.path)).sorted()
            let names = places.prefix(10).map(\.excerpt).joined(separator: ", ") + (places.count > 10 ? ", …" : "")
            return ConnectorError(.missing, "the event \(id) is not at \(path.excerpt); it is at \(names)")
        }
        return ConnectorError(
            .missing,
            "there is no event \(id) in the outbox",
            fix:
                "check the id; delivered events are kept only until 10,000 others have been delivered, or 1,000 with an outbox in NATS"
        )
    }

    /// The error for ids that belong to no dead letter.
    ///
    /// - Parameter queued: Whether they belong to no waiting event either.
    package static func unknown(_ ids: some Sequence<String>, queued: Bool) -> ConnectorError {
        ConnectorError(
            .missing,
            "no \(queued ? "event" : "dead letter") has the id \(ids.map(\.excerpt).joined(separator: ", "))",
            fix: queued
                ? unknownEvent("").fix
                : "list them: connector-host outbox dead; events that wait are dropped by outbox drop --queued"
        )
    }
}

extension QueueStatistics {
    fileprivate func json(of path: String) -> JSONValue {
        var object: JSONObject = [
            "connector": .string(path),
            "queued": .integer(Int64(queued)),
            "bytes": .integer(Int64(bytes)),
            "dead": .integer(Int64(dead)),
            "delivered": .integer(Int64(delivered)),
            "dropped": .integer(Int64(dropped)),
        ]
        object.set("oldest", oldest?.description)
        object.set("lastDelivered", lastDelivered?.description)
        return .object(object)
    }
}

extension PastAttempt {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "at": .string(at.description), "until": .string(until.description), "count": .integer(Int64(count)),
        ]
        object.set("code", failure?.code.rawValue)
        object.set("reason", failure?.reason)
        return .object(object)
    }
}

extension OutboxRecord {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["connector": .string(path), "state": .string(state.rawValue)]
        object.set("nextAttemptAt", due?.description)
        object["attempts"] = .array(attempts.map(\.json))
        return .object(object)
    }
}
