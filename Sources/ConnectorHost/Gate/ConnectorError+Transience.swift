// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ConnectorError {
    /// Whether another attempt to open may succeed.
    ///
    /// Opening is safe to repeat, so transient errors are retried even if the plugin does not mark them as retryable.
    var isTransient: Bool { isRetryable || [.unavailable, .rateLimited].contains(code) }
}
