// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A failure of a plugin's call, as it crosses the line.
public struct PluginError: Error, Sendable, Hashable {
    /// The kind of failure.
    public var status: PluginStatus
    /// One sentence for a person, with the vendor's own words; at most 967 bytes cross the line. Never a secret.
    public var message: String
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// When to try again, from now, if the vendor said so.
    public var retryAfter: Duration?
    /// Who speaks: a vendor's name, `http`, `errno`; at most 31 bytes cross the line.
    public var domain: String
    /// The vendor's or system's own number, such as the HTTP status; 0 if there is none.
    public var detail: Int32

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - status: The kind of failure.
    ///   - message: One sentence for a person, with the vendor's own words. Never a secret.
    ///   - isRetryable: By default what the status suggests: rate limited, unavailable, timed out and a violated protocol are.
    ///   - retryAfter: When to try again, from now, if the vendor said so.
    ///   - domain: Who speaks: a vendor's name, `http`, `errno`.
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

    /// Turns whatever an author's code threw into what crosses the line.
    public init(_ error: any Error) {
        switch error {
        case let error as PluginError: self = error
        case let error as ConnectorError: self.init(error)
        case is CancellationError: self.init(.cancelled, "the call was given up")
        default: self.init(.failed, "\(error)")
        }
    }

    /// Turns an objection of the shared values, such as a model that does not fit, into what crosses the line.
    public init(_ error: ConnectorError) {
        let objections: Set<ConnectorError.Code> = [
            .syntax, .invalidValue, .wrongType, .missingValue, .unknownKey,
        ]
        var message = error.message
        if let position = error.position { message = "\(position): \(message)" }
        if let fix = error.fix { message += "; \(fix)" }
        self.init(
            objections.contains(error.code) ? .invalid : PluginStatus(code: error.code) ?? .failed,
            message,
            isRetryable: error.isRetryable,
            retryAfter: error.retryAfter
        )
    }
}
