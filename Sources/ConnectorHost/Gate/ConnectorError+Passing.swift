// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ConnectorError {
    /// Whether the next attempt to open may succeed.
    ///
    /// The target of the gate is open, so what passes by its nature is tried again, even if the plugin does not say that
    /// a call may be repeated.
    var mayPass: Bool { isRetryable || [.unavailable, .rateLimited].contains(code) }
}
