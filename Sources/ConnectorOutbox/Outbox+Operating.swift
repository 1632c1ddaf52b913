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

    /// Delivers dead letters to another connector, and removes them from those that could not deliver them.
    ///
    /// - Returns: How many.
    package func replay(_ selection: RecordSelection, to path: String) async throws(ConnectorError) -> Int {
        let engine = try await engine()
        let count = try await engine.replay(selection, to: path)
        if count > 0 { try await takeUp(engine) }
        return count
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
        try? await tellReceipts(engine)
        return count
    }
}

extension OutboxEngine {
    /// How many records are moved at a time.
    package static var pageSize: Int { 1000 }

    /// Puts dead letters into the queue of another connector, and removes them from those that could not deliver them.
    ///
    /// Each letter is stored for the other connector, with its id, before it is removed.
    ///
    /// - Returns: How many.
    package func replay(_ selection: RecordSelection, to path: String) async throws(ConnectorError) -> Int {
        var selection = selection
        (selection.states, selection.limit) = ([.dead], Self.pageSize)
        var count = 0
        repeat {
            let records = try await records(selection)
            selection.after = records.next(limit: Self.pageSize)
            let letters = records.filter { $0.target != path }
            if !letters.isEmpty { try await store(letters, alsoFor: path) }
            for (target, part) in Dictionary(grouping: letters, by: \.target) {
                let ids = Set(part.map(\.event.id))
                count += try await drop(RecordSelection(targets: [target], ids: ids, states: [.dead]))
            }
        } while selection.after != nil
        return count
    }
}
