// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// Reading, replaying and dropping records of the outbox that this process uses.
extension Outbox {
    /// Records of events, oldest first; nothing before the outbox was opened.
    package func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        guard isOpen else { return [] }
        return try await engine().records(selection)
    }

    /// Puts dead letters back in the queue, and delivers them; leaves those of connectors that are not in the tree, and those without
    /// a payload.
    ///
    /// - Returns: How many, and an error that says which are left; nil if none is.
    package func replay(
        _ selection: RecordSelection
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let engine = try await engine()
        let paths = state.withLock { Set($0.targets.keys) }
        let (count, left) = try await engine.replay(selection, among: paths)
        if count > 0 { try await takeUp(engine) }
        return (count, left)
    }

    /// Delivers dead letters to another connector, and removes them from those that could not deliver them.
    ///
    /// - Parameter refusal: Why the other connector takes no events of a kind; nil if it does.
    /// - Returns: How many, and an error that says which are left; nil if none is.
    package func replay(
        _ selection: RecordSelection,
        to path: String,
        unless refusal: @Sendable (EventKind) -> ConnectorError?
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let engine = try await engine()
        let (count, left) = try await engine.replay(selection, to: path, unless: refusal)
        if count > 0 { try await takeUp(engine) }
        return (count, left)
    }

    /// Drops waiting events or dead letters for good.
    ///
    /// - Returns: How many.
    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        let engine = try await engine()
        let count = try await engine.drop(selection)
        guard count > 0 else { return 0 }
        try await refresh(engine)
        // If this fails, receipts learn of it with the next change.
        try? await notifyReceipts(engine)
        return count
    }
}
