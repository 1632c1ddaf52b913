// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorServices

/// An event of a plugin.
struct EventDocument: Document {
    /// The event.
    var event: ConnectorEvent

    /// One line, preceded by a note if events were lost.
    func lines(_ style: TextStyle) -> [String] {
        let lost = event.missed > 0 ? [style.shown("(\(event.missed) events were lost)")] : []
        return lost + [
            style.shown("\(event.time)  \(event.connector)  \(event.name)  \(event.payload)")
        ]
    }

    var json: JSONValue { event.json }
}
