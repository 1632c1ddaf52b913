// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorOutbox

/// Handles events that vendors rejected permanently: see <doc:Outbox>.
extension ConnectorHost {
    /// Returns the dead letters of a connector and everything below it, oldest first.
    ///
    /// ```swift
    /// for letter in try await host.deadLetters(of: "analytics") {
    ///     print(letter.connector, letter.id, letter.reason ?? "")
    /// }
    /// ```
    ///
    /// It also works before the host opens. With NATS, it reads the stream of dead letters from the beginning.
    ///
    /// - Parameters:
    ///   - path: The connector; nil for all.
    ///   - limit: The maximum number of letters.
    ///   - cursor: The cursor of the last letter already read; nil to start with the oldest.
    /// - Throws: `unknown-connector` if no connector has the path; `storage` if the outbox cannot be used; `not-open` once the host
    ///   closes.
    public func deadLetters(
        of path: String? = nil,
        limit: Int = 100,
        after cursor: DeadLetter.Cursor? = nil
    ) async throws(ConnectorError) -> [DeadLetter] {
        let isReadable = try await outbox.isReadable()
        let selection = RecordSelection(
            paths: try recipients(of: path),
            states: [.dead],
            limit: max(0, limit),
            after: cursor?.place
        )
        guard isReadable, selection.limit > 0 else { return [] }
        return try await outbox.outbox.records(selection).compactMap { DeadLetter($0) }
    }

    /// Puts dead letters back in the queue, with their age reset, and delivers them.
    ///
    /// - Parameters:
    ///   - path: The connector, with everything below it; nil for all.
    ///   - ids: The events; nil for all.
    ///   - other: The connector that receives the letters, by any of its paths; nil for each letter's own, so that the letters of a
    ///     connector that is no longer in the configuration stay as they are. Use it to move those.
    /// - Returns: The number of letters. A letter replayed or dropped elsewhere meanwhile does not count and is not an
    ///   error.
    /// - Throws: `unknown-connector` if no connector has the path, or if there are only letters of connectors that are no longer in the
    ///   configuration; `too-large` if there are only letters without a payload, which NATS servers no longer accepted; `unsupported` if
    ///   the other connector takes none of the letters, `conflict` if it has delivered all of them before; `storage` if the outbox cannot
    ///   be used; `not-open` once the host closes.
    @discardableResult
    public func replayDeadLetters(
        of path: String? = nil,
        ids: Set<String>? = nil,
        to other: String? = nil
    ) async throws(ConnectorError) -> Int {
        let isReadable = try await outbox.isReadable()
        let selection = RecordSelection(paths: try recipients(of: path), ids: ids, states: [.dead])
        if let other { try queue(of: other) }
        guard isReadable else { return 0 }
        let (count, left): (Int, ConnectorError?)
        if let other {
            (count, left) = try await replay(selection, to: other)
        } else {
            (count, left) = try await replay(selection)
        }
        if count == 0, let left { throw left }
        return count
    }

    /// Deletes dead letters; waiting events are kept.
    ///
    /// - Parameters:
    ///   - path: The connector, with everything below it; nil for all.
    ///   - ids: The events; nil for all.
    /// - Returns: The number of letters. A letter replayed or dropped elsewhere meanwhile does not count and is not an
    ///   error.
    /// - Throws: `unknown-connector` if no connector has the path; `storage` if the outbox cannot be used; `not-open` once the host
    ///   closes.
    @discardableResult
    public func dropDeadLetters(
        of path: String? = nil,
        ids: Set<String>? = nil
    ) async throws(ConnectorError) -> Int {
        let isReadable = try await outbox.isReadable()
        let selection = RecordSelection(paths: try recipients(of: path), ids: ids, states: [.dead])
        guard isReadable else { return 0 }
        return try await outbox.outbox.drop(selection)
    }

    /// The connectors at and below a path, any of which may have dead letters.
    ///
    /// - Throws: `unknown-connector` if no connector has the path; `storage` if the outbox cannot be used; `not-open` once the host
    ///   closes.
    package func deadLetterPaths(of path: String) async throws(ConnectorError) -> Set<String> {
        _ = try await outbox.isReadable()
        return try recipients(of: path) ?? []
    }

    /// The connectors at and below a path, any of which may have letters; nil for no path, which includes connectors no longer in the
    /// configuration.
    ///
    /// Which connectors have left letters is known only once the outbox is readable.
    private func recipients(of path: String?) throws(ConnectorError) -> Set<String>? {
        guard let path else { return nil }
        // A connector that is no longer in the configuration may have left letters.
        if current.tree[path] == nil, outbox.outbox.statistics(of: path) != nil { return [path] }
        let node = try current.node(path).node
        let below = current.tree.nodes.lazy.map(\.path).filter { $0 == node.path || $0.hasPrefix("\(node.path)/") }
        return Set(node.allRecipients.map(\.path)).union(below)
    }
}
