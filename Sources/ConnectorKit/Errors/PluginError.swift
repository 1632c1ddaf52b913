// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The failure of a plugin's call, in the form that crosses the ABI.
public struct PluginError: Error, Sendable, Hashable {
    /// The kind of failure.
    public var status: PluginStatus
    /// One sentence for a person, with the vendor's own words, never a secret; cut to 967 bytes.
    public var message: String
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// The wait before the next attempt, if the vendor gave one.
    public var retryAfter: Duration?
    /// The source of the failure: a vendor's name, `http`, `errno`; `host` if the host refused what the plugin asked for. Cut to 31 bytes.
    public var domain: String
    /// The vendor's or system's own number, such as the HTTP status; 0 if there is none.
    public var detail: Int32

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - status: The kind of failure.
    ///   - message: One sentence for a person, with the vendor's own words. Never a secret.
    ///   - isRetryable: By default true for `rateLimited`, `unavailable`, `timedOut` and `protocolViolation`.
    ///   - retryAfter: The wait before the next attempt, if the vendor gave one.
    ///   - domain: The source of the failure: a vendor's name, `http`, `errno`.
    ///   - detail: The vendor's or system's own number; 0 if there is none.
    public init(
        _ status: PluginStatus,
        _ message: String,
        isRetryable: Bool? = nil,
        retryAfter: Duration? = nil,
        domain: String = "",
        detail: Int32 = 0
    ) {
        self.status = status
        self.message = message
        self.isRetryable = isRetryable ?? status.isUsuallyRetryable
        self.retryAfter = retryAfter
        self.domain = domain
        self.detail = detail
    }

    /// The source of the host's refusals of what a plugin asks for, which blame no event.
    static let hostDomain = "host"

    /// Converts any error that the plugin's code threw.
    public init(_ error: any Error) {
        switch error {
        case let error as PluginError: self = error
        case let error as ConnectorError: self.init(error)
        case is CancellationError: self.init(.cancelled, "the call was cancelled")
        default: self.init(.failed, "\(error)")
        }
    }

    /// Converts an error of the shared value types, such as JSON that does not fit a model.
    public init(_ error: ConnectorError) {
        let problems: Set<ConnectorError.Code> = [
            .syntax, .invalidValue, .wrongType, .missingValue, .unknownKey,
        ]
        var message = error.message
        if let position = error.position { message = "\(position): \(message)" }
        if let fix = error.fix { message += "; \(fix)" }
        self.init(
            problems.contains(error.code) ? .invalid : PluginStatus(code: error.code) ?? .failed,
            message,
            isRetryable: error.isRetryable,
            retryAfter: error.retryAfter
        )
    }
}
