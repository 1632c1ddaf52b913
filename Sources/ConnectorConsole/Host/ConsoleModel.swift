// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A console's view of a host, and its way to act on it.
package protocol ConsoleModel: Sendable {
    /// Yields whenever the snapshot may have changed; changes that are not awaited are merged into one. For one consumer.
    var changes: AsyncStream<Void> { get }

    /// The current state of the host.
    ///
    /// - Parameter routes: The visible routes. Events of the outbox and plugins are looked up only for these.
    func snapshot(for routes: [Route]) async -> ConsoleSnapshot

    /// Performs an action on the host.
    ///
    /// - Returns: The result in a sentence.
    func perform(_ act: ConsoleAct) async -> String
}
