// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorConfiguration
package import ConnectorOutbox
package import ConnectorPlatform
internal import ConnectorServices

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
        let location = OutboxLocation(of: configuration, state: state)
        directory = if case .directory(let path) = location { path } else { "" }
        if case .none(let error) = location { throw error }
        engine = location.isStored ? try await location.open(targets: [], clock: clock, redactor: Redactor()) : nil
    }
}
