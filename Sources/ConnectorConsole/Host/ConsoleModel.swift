// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A console's view of a host, and its way to act on it.
package protocol ConsoleModel: Sendable {
    /// Yields whenever the snapshot may have changed; pending changes are merged into one. For a single consumer.
    var changes: AsyncStream<Void> { get }

    /// The current state of the host.
    ///
    /// - Parameter routes: The visible routes. The outbox and the plugins are only queried if these show them.
    func snapshot(for routes: [Route]) async -> ConsoleSnapshot

    /// Performs an action on the host.
    ///
    /// - Returns: A sentence for the operator that describes the result, also on failure.
    func perform(_ act: ConsoleAct) async -> String
}
