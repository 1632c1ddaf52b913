// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorInvocation

extension ServiceFailure {
    /// The failure of a used gate, which names its connector. The host's refusal of what that gate's plugin asked for stays the host's.
    package init(_ error: ConnectorError) {
        let place = error.connector.map { "\($0): " } ?? ""
        let details = [error.cause.map { " (\($0))" }, error.fix.map { "; \($0)" }].compactMap(\.self).joined()
        self.init(
            status: error.code.status,
            message: place + error.message + details,
            domain: error.isServiceRefusal ? Self.hostDomain : "gate",
            isRetryable: error.isRetryable,
            retryAfter: error.retryAfter?.nanoseconds ?? 0
        )
    }
}
