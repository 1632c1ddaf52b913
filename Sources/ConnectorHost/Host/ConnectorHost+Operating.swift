// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorLoading
package import ConnectorOutbox
package import ConnectorPlatform

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

    /// Puts dead letters back in the queue, and delivers them; leaves those of connectors that are not in the configuration.
    ///
    /// - Returns: The number of events, and an error that says which letters are left; nil if none is.
    package func replay(
        _ selection: RecordSelection
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        try await outbox.outbox.replay(selection)
    }

    /// Puts dead letters into the queue of another connector, and delivers them; leaves those that it does not take, or had before.
    ///
    /// - Returns: The number of events, and an error that says which letters are left; nil if none is.
    /// - Throws: `unknown-connector` if the other connector has no queue.
    package func replay(
        _ selection: RecordSelection,
        to path: String
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let node = try queue(of: path)
        return try await outbox.outbox.replay(selection, to: node.path) { kind in
            do throws(ConnectorError) {
                _ = try node.recipients(of: kind)
                return nil
            } catch {
                return error
            }
        }
    }

    /// A connector that has a queue, by any of its paths.
    ///
    /// - Throws: `unknown-connector` if it has none.
    @discardableResult
    func queue(of path: String) throws(ConnectorError) -> Node {
        let tree = current.tree
        let queues = tree.queues
        let own = tree[path]?.path ?? path
        guard let node = queues.first(where: { $0.path == own }) else {
            throw .withoutQueue(path, among: queues.map(\.path))
        }
        return node
    }

    /// Deletes dead letters or waiting events.
    ///
    /// - Returns: The number of events.
    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await outbox.outbox.drop(selection)
    }
}

extension ConnectorError {
    /// The error for a connector that is to receive events but has no queue.
    ///
    /// - Parameter queues: The connectors that have one.
    package static func withoutQueue(_ path: String, among queues: [String]) -> ConnectorError {
        ConnectorError(
            .unknownConnector,
            "the connector \"\(path.excerpt)\" has no queue",
            fix: suggestion(for: path, among: queues)
        )
    }
}

extension ConnectorHost {
    /// The threads of the host that a job may block.
    package var workers: WorkerThreads { dependencies.calls.workers }

    /// The plugin images in this process's memory, grouped by file, in the order in which the files were first loaded.
    package var heldImages: [HeldImages] {
        var users: [ObjectIdentifier: [String]] = [:]
        for gate in current.tree.gates {
            if let content = gate.content { users[ObjectIdentifier(content), default: []].append(gate.path) }
        }
        var files: [HeldImages] = []
        var places: [String: Int] = [:]
        for held in LoadedImages.shared.held {
            let connectors = users[ObjectIdentifier(held.content)] ?? []
            let image = HeldImages.Image(plugin: held.name, bytes: held.size, connectors: connectors)
            if let place = places[held.path] {
                files[place].images.append(image)
            } else {
                places[held.path] = files.count
                files.append(HeldImages(path: held.path.withGivenPaths, images: [image]))
            }
        }
        return files
    }
}
