// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import Synchronization

/// Which image a reload is loading, for the error if that does not end.
final class LoadStep: Sendable {
    /// When it began, in the clock's monotonic time.
    private let start: UInt64
    private let current = Mutex<(connector: String, path: String)?>(nil)

    init(startedAt start: UInt64) { self.start = start }

    /// Notes the image that is loaded next.
    func begin(_ path: String, for connector: String) {
        current.withLock { $0 = (connector, path) }
    }

    /// Why it has not ended; nil if it has loaded nothing yet.
    func error(at now: UInt64) -> ConnectorError? {
        guard let current = current.withLock(\.self) else { return nil }
        var error = Overdue.loading(current.path).error(after: now &- start)
        error.connector = current.connector
        return error
    }
}
