// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox

/// Operator access to this host's events.
extension ConnectorHost {
    /// Returns statistics for every connector that ever had an event; empty before the outbox is opened.
    package func outboxStatistics() async throws(ConnectorError) -> [String: QueueStatistics] {
        guard outbox.outbox.isOpen else { return [:] }
        return try await outbox.outbox.engine().statistics()
    }

    /// Returns records of events, oldest first; empty if no event was ever stored.
    package func outboxRecords(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        try await outbox.outbox.records(selection)
    }

    /// Puts dead letters back in the queue, and delivers them.
    ///
    /// - Returns: The number of events.
    package func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await outbox.outbox.replay(selection)
    }

    /// Puts dead letters into the queue of another connector, and delivers them.
    ///
    /// - Returns: The number of events.
    /// - Throws: `unknown-connector` if the other connector has no queue.
    package func replay(_ selection: RecordSelection, to path: String) async throws(ConnectorError) -> Int {
        let queues = current.tree.queues.map(\.path)
        guard queues.contains(path) else {
            throw ConnectorError(
                .unknownConnector,
                "the connector \"\(path)\" has no queue",
                fix: suggestion(for: path, among: queues)
            )
        }
        return try await outbox.outbox.replay(selection, to: path)
    }

    /// Deletes dead letters or waiting events.
    ///
    /// - Returns: The number of events.
    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await outbox.outbox.drop(selection)
    }
}
