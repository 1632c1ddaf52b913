// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox

/// What an operator sees of the events of this host, and does to them.
extension ConnectorHost {
    /// How the outbox of every connector stands that ever had an event; nothing before the outbox was opened.
    package func outboxStatistics() async throws(ConnectorError) -> [String: QueueStatistics] {
        guard outbox.outbox.isOpen else { return [:] }
        return try await outbox.outbox.engine().statistics()
    }

    /// What is known of events, oldest first; nothing while no event was ever stored.
    package func outboxRecords(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        try await outbox.outbox.records(selection)
    }

    /// Puts dead letters back in the queue, and delivers them.
    ///
    /// - Returns: How many.
    package func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await outbox.outbox.replay(selection)
    }

    /// Drops dead letters or waiting events for good.
    ///
    /// - Returns: How many.
    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await outbox.outbox.drop(selection)
    }
}
