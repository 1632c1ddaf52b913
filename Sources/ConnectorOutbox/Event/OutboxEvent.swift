// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// An event on its way to the vendors: an id, and a payload that nothing on the way changes.
package struct OutboxEvent: Sendable, Hashable {
    /// The event's own id, which stays the same in every attempt, and by which vendors recognize a repetition.
    package var id: String
    /// The operation that delivers it, and the operation's capability.
    package var kind: EventKind
    /// When the application sent it.
    package var createdAt: Timestamp
    /// JSON: the element of a batch, or the arguments by name of an operation that takes no batch.
    package var payload: [UInt8]

    /// Makes an event as it is stored.
    package init(id: String, kind: EventKind, createdAt: Timestamp, payload: [UInt8]) {
        self.id = id
        self.kind = kind
        self.createdAt = createdAt
        self.payload = payload
    }

    /// Whether this is an event, with the same id, sent once more: the same operation, and the same payload except for its `timestamp`,
    /// which the host adds to events without one.
    package func isRepetition(of event: OutboxEvent) -> Bool {
        guard kind == event.kind else { return false }
        return payload == event.payload || untimed.map { $0 == event.untimed } ?? false
    }

    /// The payload without its `timestamp`; nil if it is no object.
    private var untimed: JSONObject? {
        var object = (try? JSONValue(parsing: payload, file: ""))?.object
        object?["timestamp"] = nil
        return object
    }
}

/// The operation by which an event was sent, such as `track` of `analytics/1`.
///
/// Events of one capability travel together if its `deliver` takes them; others travel alone.
package struct EventKind: Sendable, Hashable, CustomStringConvertible {
    /// The capability, such as `analytics/1`.
    package var capability: String
    /// The operation, such as `track`.
    package var operation: String

    /// Names an operation of a capability.
    package init(_ capability: String, _ operation: String) {
        self.capability = capability
        self.operation = operation
    }

    /// Reads what ``description`` writes; nil for anything else.
    package init?(_ text: String) {
        guard let space = text.firstIndex(of: " ") else { return nil }
        self.init(String(text[..<space]), String(text[text.index(after: space)...]))
    }

    /// `analytics/1 track`
    package var description: String { "\(capability) \(operation)" }
}
