// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorConfiguration
internal import ConnectorOutbox
internal import ConnectorOutboxSQLite
internal import ConnectorPlatform

/// Events that wait in a directory where hosts of their file no longer look, because its `name`, `state` or `outbox` has changed.
///
/// Only directories that follow from the file are known: one of an earlier `name`, `state` or place of the file is not.
package struct StrandedEvents: Sendable, Hashable, CustomStringConvertible {
    /// The directory.
    let directory: String
    /// The number of events by the connector that has yet to receive them.
    let counts: [String: Int]
    /// Whether the file keeps events on servers, so that its `state` does not matter.
    let usesServers: Bool

    /// Finds such events. Reads the outbox of each directory, and changes no event.
    ///
    /// Events that another process delivers are not stranded.
    ///
    /// - Parameter state: The state directory of this user's hosts; nil for the default.
    package static func find(_ configuration: Configuration, state: String?) async -> [StrandedEvents] {
        let directories = configuration.possibleDirectories(state: state)
        let usesServers = configuration.servers != nil
        var known: Set<String> = []
        if !usesServers, let current = directories.first { known.insert(current.realPath) }
        var found: [StrandedEvents] = []
        for directory in directories where known.insert(directory.realPath).inserted {
            let counts = await SQLiteEngine.waitingCounts(in: directory)
            guard !counts.isEmpty, !DeliveryLock.isHeld(directory) else { continue }
            found.append(StrandedEvents(directory: directory, counts: counts, usesServers: usesServers))
        }
        return found
    }

    /// A sentence for people about the events of all connectors, with the remedy.
    package var description: String { sentence(about: counts.keys) }

    /// The sentence about the events of some of the connectors.
    func sentence(about paths: some Sequence<String>) -> String {
        let count = paths.reduce(0) { $0 + (counts[$1] ?? 0) }
        let events = count == 1 ? "event waits" : "events wait"
        return "\(count) \(events) in \(directory.withGivenPaths), where hosts of this file look only with another "
            + "\"name\", \"state\" or \"outbox\"; to deliver them, run a host with \"state\" set to that directory"
            + (usesServers ? ", and without \"outbox\"" : "")
    }
}
