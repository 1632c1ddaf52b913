// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What `connector-host send` has stored.
struct SentDocument: Document {
    /// The path of the connector.
    var path: String
    /// The name of the operation.
    var operation: String
    /// How many events were stored.
    var sent: Int
    /// The id of a single event.
    var id: String?

    func lines(_ style: TextStyle) -> [String] {
        [id.map { style.shown($0) } ?? "\(sent) \(sent == 1 ? "event" : "events") stored"]
    }

    var json: JSONValue {
        var object: JSONObject = [
            "version": 1, "path": .string(path), "operation": .string(operation), "sent": .integer(Int64(sent)),
        ]
        object.set("id", id)
        return .object(object)
    }
}
