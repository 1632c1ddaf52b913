// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorOutbox

/// The outbox, as an application sees it: see <doc:Outbox>.
extension ConnectorHost {
    /// How the outbox of a connector stands: how much waits, since when, and what the vendor has taken.
    ///
    /// - Returns: Nil if the connector never had an event, or its outbox was not opened yet.
    public func outbox(of path: String) -> OutboxReport? { outbox.report(of: path) }

    /// Takes the right to deliver the events of the outbox, which one process has at a time.
    ///
    /// A host without it only adds to the outbox, and takes the right when the other process gives it back.
    ///
    /// - Throws: `conflict` if another process has it; `storage` if the outbox cannot be used.
    public func claimOutbox() async throws(ConnectorError) { try await outbox.outbox.claim() }

    /// Waits until nothing waits any more in the outboxes of a connector and everything below it.
    ///
    /// - Parameters:
    ///   - path: The connector; nil for all.
    ///   - limit: The longest wait; nil for none.
    /// - Returns: Whether the vendors have everything, or refuse it for good. What is left at the limit stays safe.
    /// - Throws: `unknown-connector` if no connector has the path.
    @discardableResult
    public func flush(_ path: String? = nil, within limit: Duration? = nil) async throws(ConnectorError) -> Bool {
        let nodes = if let path { [try current.node(path).node] } else { current.tree.roots }
        return await outbox.outbox.flush(nodes.flatMap(\.allRecipients).map(\.path), within: limit)
    }

    /// Makes the streams and consumers of an outbox in NATS that are missing; an outbox in a directory needs nothing.
    ///
    /// - Returns: What was done, one sentence for each.
    /// - Throws: `storage` if the servers cannot be used, `conflict` if something there is otherwise than it must be.
    public func migrateOutbox() async throws(ConnectorError) -> [String] {
        try await outbox.location.migrate(targets: outbox.paths, redactor: environment.redactor)
    }
}
