// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What `connector-host send` has stored, or delivered to simulators.
struct SentDocument: Document {
    /// The path of the connector.
    var path: String
    /// The name of the operation.
    var operation: String
    /// How many events were sent.
    var sent: Int
    /// The id of a single event.
    var id: String?
    /// Whether simulators have the events.
    var isSimulated = false

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
