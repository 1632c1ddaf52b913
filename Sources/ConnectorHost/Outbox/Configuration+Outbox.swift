// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorConfiguration
package import ConnectorOutbox
package import ConnectorPlatform
internal import ConnectorServices

extension Configuration {
    /// Opens the outbox for operators, even while a host uses it. The caller closes it.
    ///
    /// - Parameters:
    ///   - state: The state directory of this user's hosts; nil for the default.
    ///   - clock: The source of wall-clock time.
    ///   - onDamage: Called when a damaged file was set aside or is lost, and every few seconds while it is salvaged, with a sentence that
    ///     says so.
    /// - Returns: The engine; nil if nothing is stored yet.
    /// - Throws: `storage` if it cannot be used.
    package func openOutbox(
        state: String?,
        clock: any HostClock,
        onDamage: @escaping @Sendable (String) -> Void
    ) async throws(ConnectorError) -> (any OutboxEngine)? {
        let location = OutboxLocation(of: self, state: state)
        if case .none(let error) = location { throw error }
        guard location.isStored else { return nil }
        return try await location.open(
            paths: [],
            clock: clock,
            redactor: Redactor(),
            onTrim: { _ in },
            onSalvage: { onDamage("the damaged outbox file is being salvaged: \($0) rows so far") },
            onDamage: { onDamage("\($0)") }
        )
    }
}
