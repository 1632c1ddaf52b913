// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorServices

extension ConnectorEvent {
    /// The document of `connector-host watch --json`.
    package var json: JSONValue {
        [
            "version": 1,
            "at": .string(time.description),
            "connector": .string(connector),
            "name": .string(name),
            "payload": payload,
            "missed": .integer(Int64(missed)),
        ]
    }

    /// Parses the document; nil if it is not an event.
    package init?(json: JSONValue) {
        guard json["version"]?.integer == 1, let connector = json["connector"]?.string, let name = json["name"]?.string,
            let time = json["at"]?.string.flatMap(Timestamp.init(parsing:))
        else { return nil }
        self.init(
            connector: connector,
            name: name,
            payload: json["payload"] ?? .null,
            time: time,
            missed: Int(clamping: json["missed"]?.integer ?? 0)
        )
    }
}
