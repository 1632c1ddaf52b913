// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension CallOptions {
    /// Checks that a call may begin, as the host does before it calls a plugin.
    ///
    /// - Throws: `timed-out` for a call without time, `cancelled` if the caller's task is.
    func begin(_ operation: String) throws(ConnectorError) {
        guard timeoutNanoseconds > 0 else { throw Self.noTime(for: operation) }
        guard !Task.isCancelled else { throw ConnectorError(.cancelled, "\(operation) was cancelled") }
    }
}
