// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorConfiguration
package import ConnectorOutbox
package import ConnectorPlatform
internal import ConnectorServices

/// The outbox of a configuration, opened for operators even while a host uses it.
package struct OutboxInspection: Sendable {
    /// The directory of the events; empty for servers.
    package let directory: String
    /// The engine; nil if nothing is stored yet.
    package let engine: (any OutboxEngine)?

    /// Opens the outbox of a configuration, if there is one.
    ///
    /// - Parameters:
    ///   - state: The state directory of this user's hosts; nil for the default.
    ///   - clock: The source of wall-clock time.
    ///   - onDamage: Called when a damaged file was set aside or is lost, with a sentence that says so.
    /// - Throws: `storage` if it cannot be used.
    package init(
        _ configuration: Configuration,
        state: String?,
        clock: any HostClock,
        onDamage: @escaping @Sendable (String) -> Void
    ) async throws(ConnectorError) {
        let location = OutboxLocation(of: configuration, state: state)
        directory = if case .directory(let path) = location { path } else { "" }
        if case .none(let error) = location { throw error }
        engine =
            location.isStored
            ? try await location.open(
                paths: [],
                clock: clock,
                redactor: Redactor(),
                onTrim: { _ in },
                onDamage: { onDamage("\($0)") }
            ) : nil
    }
}
