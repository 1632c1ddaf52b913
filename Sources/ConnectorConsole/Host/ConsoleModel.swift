// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a console knows of a host, and does to it.
package protocol ConsoleModel: Sendable {
    /// Arrives whenever a snapshot may be another; changes that nobody awaits become one. For one consumer.
    var changes: AsyncStream<Void> { get }

    /// What the host says now.
    ///
    /// - Parameter routes: What is shown: events of the outbox and plugins are looked up for those routes alone.
    func snapshot(for routes: [Route]) async -> ConsoleSnapshot

    /// Does something to the host.
    ///
    /// - Returns: What became of it, in a sentence.
    func perform(_ act: ConsoleAct) async -> String
}
