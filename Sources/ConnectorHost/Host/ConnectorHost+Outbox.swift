// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorOutbox

/// The outbox, as an application sees it: see <doc:Outbox>.
extension ConnectorHost {
    /// The state of a connector's outbox: waiting events, their age, and deliveries.
    ///
    /// - Returns: Nil if the connector never had an event, or the outbox is not open yet.
    public func outbox(of path: String) -> OutboxReport? { outbox.report(of: current.tree[path]?.path ?? path) }

    /// Acquires the exclusive right to deliver the outbox's events; one process holds it at a time.
    ///
    /// A host without it only adds to the outbox, and acquires the right once the other process releases it.
    ///
    /// - Throws: `conflict` if another process holds it; `storage` if the outbox cannot be used.
    public func claimOutbox() async throws(ConnectorError) { try await outbox.outbox.claim() }

    /// Waits until the outboxes of a connector and everything below it are empty.
    ///
    /// Events that an earlier process left count too. Nothing is delivered before the host opens, so that a flush waits for it if there
    /// are any.
    ///
    /// - Parameters:
    ///   - path: The connector; nil for all.
    ///   - limit: The maximum wait, also while a service group shuts down; nil for one that lasts until the shutdown at most.
    /// - Returns: Whether every event was accepted or permanently rejected. Events left at the limit stay stored.
    /// - Throws: `unknown-connector` if no connector has the path; `storage` if the outbox cannot be used; `not-open` once the host
    ///   closes; `cancelled` if the caller's task was cancelled, or its service group shut down without a limit, while events wait.
    @discardableResult
    public func flush(_ path: String? = nil, within limit: Duration? = nil) async throws(ConnectorError) -> Bool {
        let nodes = if let path { [try current.node(path).node] } else { current.tree.roots }
        let paths = nodes.flatMap(\.allRecipients).unique.map(\.path)
        let (queues, isStored) = (outbox.outbox, outbox.location.isStored)
        if let limit { return try await queues.flush(paths, within: limit, isStored: isStored) }
        let fix = "the events stay in the outbox; to wait for them during a shutdown, set a limit: flush(within:)"
        return try await endingAtShutdown(fix: fix) { () async -> Result<Bool, ConnectorError> in
            do throws(ConnectorError) {
                return .success(try await queues.flush(paths, within: nil, isStored: isStored))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Creates missing streams and consumers of an outbox in NATS; does nothing for an outbox in a directory.
    ///
    /// - Returns: One sentence per change made.
    /// - Throws: `storage` if the servers cannot be used; `conflict` if an existing stream or consumer has a different
    ///   configuration.
    public func migrateOutbox() async throws(ConnectorError) -> [String] {
        try await outbox.location.migrate(paths: outbox.outbox.targetPaths.sorted(), redactor: dependencies.redactor)
    }
}
