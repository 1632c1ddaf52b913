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
package struct StrandedEvents: Sendable, CustomStringConvertible {
    /// The directory.
    let directory: String
    /// The number of events, each counted for every connector that has yet to receive it.
    let count: Int
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
            let count = await SQLiteEngine.waitingCount(in: directory)
            guard count > 0, !DeliveryLock.isHeld(directory) else { continue }
            found.append(StrandedEvents(directory: directory, count: count, usesServers: usesServers))
        }
        return found
    }

    /// A sentence for people, with the remedy.
    package var description: String {
        "\(count) \(count == 1 ? "event waits" : "events wait") in \(directory), where hosts of this file look only with another "
            + "\"name\", \"state\" or \"outbox\"; to deliver them, run a host with \"state\" set to that directory"
            + (usesServers ? ", and without \"outbox\"" : "")
    }
}
