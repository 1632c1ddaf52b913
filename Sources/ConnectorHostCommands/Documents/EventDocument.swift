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
        let count = event.missed == 1 ? "1 event was" : "\(event.missed) events were"
        let lost = event.missed > 0 ? [style.shown("(\(count) lost)")] : []
        let what = event.explanation.map { "(\($0))" } ?? "\(event.payload)"
        return lost + [
            style.shown("\(event.time)  \(event.connector)  \(event.name)  \(what)")
        ]
    }

    var json: JSONValue { event.json }
}
