// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox

/// Parses documents from another process.
extension OutboxDocument {
    /// The statistics of each connector's queue; nil if the document is not valid.
    package static func statistics(json: JSONValue) -> [String: QueueStatistics]? {
        guard json["version"]?.integer == 1, let elements = json["outboxes"]?.array else { return nil }
        var statistics: [String: QueueStatistics] = [:]
        for element in elements {
            guard let path = element["connector"]?.string else { return nil }
            statistics[path] = QueueStatistics(json: element)
        }
        return statistics
    }

    /// The records of one event; nil if the document is not valid.
    package static func event(json: JSONValue) -> [OutboxRecord]? {
        guard json["version"]?.integer == 1, let event = OutboxEvent(json: json),
            let connectors = json["connectors"]?.array
        else { return nil }
        let records = connectors.compactMap { OutboxRecord(json: $0, event) }
        return records.count == connectors.count ? records : nil
    }

    /// Dead letters, each with its last failure, and the cursor of the next page; nil if the document is not valid.
    package static func dead(json: JSONValue) -> (letters: [OutboxRecord], next: RecordCursor?)? {
        guard json["version"]?.integer == 1, let letters = json["dead"]?.array else { return nil }
        let records = letters.compactMap { letter -> OutboxRecord? in
            guard let event = OutboxEvent(json: letter), let path = letter["connector"]?.string else { return nil }
            let failure = DeliveryFailure(json: letter).map {
                PastAttempt(at: event.createdAt, until: event.createdAt, count: 1, failure: $0)
            }
            return OutboxRecord(
                path: path,
                event: event,
                state: .dead,
                due: nil,
                attempts: [failure].compactMap(\.self)
            )
        }
        return records.count == letters.count ? (records, json["next"]?.string.flatMap(RecordCursor.init)) : nil
    }
}

extension QueueStatistics {
    fileprivate init(json: JSONValue) {
        func count(_ name: String) -> Int { Int(clamping: json[name]?.integer ?? 0) }
        self.init()
        queued = count("queued")
        bytes = count("bytes")
        dead = count("dead")
        delivered = count("delivered")
        dropped = count("dropped")
        oldest = json["oldest"]?.string.flatMap(Timestamp.init(parsing:))
        lastDelivered = json["lastDelivered"]?.string.flatMap(Timestamp.init(parsing:))
    }
}

extension OutboxEvent {
    fileprivate init?(json: JSONValue) {
        guard let id = json["id"]?.string, let capability = json["capability"]?.string,
            let operation = json["operation"]?.string,
            let time = json["createdAt"]?.string.flatMap(Timestamp.init(parsing:))
        else { return nil }
        let payload = json["event"].map { $0.utf8() } ?? []
        self.init(id: id, kind: EventKind(capability, operation), createdAt: time, payload: payload)
    }
}

extension OutboxRecord {
    fileprivate init?(json: JSONValue, _ event: OutboxEvent) {
        guard let path = json["connector"]?.string, let state = json["state"]?.string.flatMap(State.init(rawValue:)),
            let attempts = json["attempts"]?.array
        else { return nil }
        self.init(
            path: path,
            event: event,
            state: state,
            due: json["nextAttemptAt"]?.string.flatMap(Timestamp.init(parsing:)),
            attempts: attempts.compactMap(PastAttempt.init(json:))
        )
    }
}

extension PastAttempt {
    fileprivate init?(json: JSONValue) {
        guard let at = json["at"]?.string.flatMap(Timestamp.init(parsing:)),
            let until = json["until"]?.string.flatMap(Timestamp.init(parsing:))
        else { return nil }
        self.init(
            at: at,
            until: until,
            count: Int(clamping: json["count"]?.integer ?? 1),
            failure: DeliveryFailure(json: json)
        )
    }
}

extension DeliveryFailure {
    fileprivate init?(json: JSONValue) {
        guard let code = json["code"]?.string else { return nil }
        self.init(ConnectorError.Code(rawValue: code), json["reason"]?.string ?? "")
    }
}
