// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import Synchronization

/// The image that a reload is loading, for the error if loading does not end.
final class LoadStep: Sendable {
    /// When the step began, in the clock's monotonic time.
    private let start: UInt64
    private let current = Mutex<(connector: String, path: String)?>(nil)

    init(startedAt start: UInt64) { self.start = start }

    /// Notes the image to be loaded next.
    func begin(_ path: String, for connector: String) {
        current.withLock { $0 = (connector, path) }
    }

    /// Why the step has not ended; nil if it has not begun to load an image.
    func error(at now: UInt64) -> ConnectorError? {
        guard let current = current.withLock(\.self) else { return nil }
        var error = MissedDeadline.loading(current.path).error(after: now &- start)
        error.connector = current.connector
        return error
    }
}
