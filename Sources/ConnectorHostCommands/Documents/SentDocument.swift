// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The events that `connector-host send` stored, or delivered to simulators.
struct SentDocument: Document {
    /// The path of the connector.
    var path: String
    /// The name of the operation.
    var operation: String
    /// The number of events sent.
    var sent: Int
    /// The id of a single event.
    var id: String?
    /// Whether the events were delivered to simulators.
    var isSimulated = false
    /// How many of the stored events were dropped by a full outbox, by its connector.
    var dropped: [String: Int] = [:]

    /// Warns on standard error of events that were not stored for every connector.
    func warn() {
        for (connector, count) in dropped.sorted(by: { $0.key < $1.key }) {
            let events = count == 1 ? "1 event" : "\(count) events"
            StandardStream.warn(
                "\(connector): the outbox was full and dropped \(events) (\"whenFull\": \"dropNewest\")"
            )
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        let done = isSimulated ? "delivered to simulators" : "stored"
        if let id { return [style.shown(id) + (isSimulated ? " \(done)" : "")] }
        return ["\(sent) \(sent == 1 ? "event" : "events") \(done)"]
    }

    var json: JSONValue {
        var object: JSONObject = [
            "version": 1, "path": .string(path), "operation": .string(operation), "sent": .integer(Int64(sent)),
        ]
        object.set("id", id)
        if isSimulated { object["delivered"] = .integer(Int64(sent)) }
        return .object(object)
    }
}
