// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Reading, replaying and dropping records of the outbox that this process uses.
extension Outbox {
    /// Records of events, oldest first; nothing before the outbox was opened.
    package func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        guard isOpen else { return [] }
        return try await engine().records(selection)
    }

    /// Puts dead letters back in the queue, and delivers them.
    ///
    /// - Returns: How many.
    package func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        let engine = try await engine()
        let count = try await engine.replay(selection)
        if count > 0 { try await takeUp(engine) }
        return count
    }

    /// Drops waiting events or dead letters for good.
    ///
    /// - Returns: How many.
    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        let engine = try await engine()
        let count = try await engine.drop(selection)
        if count > 0 { try await refresh(engine) }
        return count
    }
}
