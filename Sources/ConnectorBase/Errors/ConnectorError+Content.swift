// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError {
    /// Whether what was sent failed, rather than the way to the vendor: a smaller part of it may go through.
    package var concernsContent: Bool { code == .invalid || code == .tooLarge }

    /// Whether the vendor or its adapter refuses what was sent, for good.
    ///
    /// Only such an error blames an event. One that may pass does not, such as a gateway's limit, nor does a refusal by the host itself.
    package var condemnsContent: Bool { concernsContent && !isRetryable && !isServiceRefusal }
}

extension ConnectorError.Code {
    /// Whether the failure of one event concerns the connection rather than the event: others would fail like it.
    package var concernsConnection: Bool {
        [
            .unauthorized, .denied, .missing, .rateLimited, .unavailable, .timedOut, .protocolViolation, .notOpen,
            .crashed, .cancelled,
        ].contains(self)
    }
}
