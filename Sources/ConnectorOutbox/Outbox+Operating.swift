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

    /// Puts dead letters back in the queue, and delivers them; leaves those of connectors that are not in the tree.
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

    /// Puts dead letters back in the queue; leaves those of connectors to which nobody delivers, where they would wait for ever.
    ///
    /// - Parameter paths: The connectors of the configuration.
    /// - Returns: How many, and an error that says which are left; nil if none is.
    package func replay(
        _ selection: RecordSelection,
        among paths: Set<String>
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        var left: [String: Int] = [:]
        for (path, queue) in try await statistics() where queue.dead > 0 && !paths.contains(path) {
            if selection.targets?.contains(path) ?? true { left[path] = queue.dead }
        }
        if selection.ids != nil, !left.isEmpty {
            let others = RecordSelection(targets: Set(left.keys), ids: selection.ids, states: [.dead])
            left = Dictionary(grouping: try await records(others), by: \.target).mapValues(\.count)
        }
        var selection = selection
        selection.targets = selection.targets?.intersection(paths) ?? paths
        let count = try await replay(selection)
        return (count, Self.leaving(left))
    }

    /// The error that says how many dead letters stay with connectors to which nobody delivers; nil if none does.
    private static func leaving(_ letters: [String: Int]) -> ConnectorError? {
        guard !letters.isEmpty else { return nil }
        let count = letters.values.reduce(0) { $0.saturatingAdding($1) }
        let paths = letters.keys.sorted()
        let names = paths.prefix(10).map(\.excerpt).joined(separator: ", ") + (paths.count > 10 ? ", …" : "")
        return ConnectorError(
            .unknownConnector,
            "\(count) dead letter\(count == 1 ? " stays" : "s stay"), as no connector of the configuration gets them: \(names)",
            fix: "bring them to another connector: connector-host outbox replay --to PATH",
            connector: paths.count == 1 ? paths[0] : nil
        )
    }

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
