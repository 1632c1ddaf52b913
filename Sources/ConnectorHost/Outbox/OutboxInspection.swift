// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorOutbox
package import ConnectorPlatform

/// The outbox of a configuration, opened beside the host that may be using it: for operators.
package struct OutboxInspection: Sendable {
    /// Where the events lie.
    package let directory: String
    /// The store; nil if there is none yet.
    package let engine: (any OutboxEngine)?

    /// Opens the outbox of a configuration, if there is one.
    ///
    /// - Parameters:
    ///   - state: The directory for the state of this user's hosts; nil for the usual one.
    ///   - clock: Tells the time of day.
    /// - Throws: `storage` if it cannot be used.
    package init(
        _ configuration: Configuration,
        state: String?,
        clock: any HostClock
    ) async throws(ConnectorError) {
        switch HostOutbox.place(of: configuration, state: state) {
        case .memory:
            directory = ""
            engine = nil
        case .servers(let servers):
            directory = ""
            let now = { @Sendable in clock.wallTime() }
            engine = try await NATSEngine(try servers.resolved(), targets: [], now: now)
        case .none(let error): throw error
        case .directory(let path):
            directory = path
            guard SQLiteEngine.isStored(in: path) else {
                engine = nil
                return
            }
            engine = try await SQLiteEngine(directory: path, now: { clock.wallTime() }) { _, _ in }
        }
    }
}
