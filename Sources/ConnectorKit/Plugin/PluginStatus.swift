// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Why a call failed, in the one vocabulary of all vendors (`connector/error.h`).
///
/// A struct, so that statuses can be added without breaking a `switch` elsewhere.
public struct PluginStatus: RawRepresentable, Sendable, Hashable {
    /// The number that crosses the line.
    public var rawValue: Int32

    /// Any number; those that the host does not know count as ``failed``.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// No other status says it.
    public static let failed = Self(rawValue: 1)
    /// The arguments or the configuration are wrong; the same call fails again.
    public static let invalid = Self(rawValue: 2)
    /// The vendor cannot do this.
    public static let unsupported = Self(rawValue: 3)
    /// The vendor refused the credentials.
    public static let unauthorized = Self(rawValue: 4)
    /// The thing asked for does not exist.
    public static let notFound = Self(rawValue: 5)
    /// The thing was changed by somebody else, or exists already.
    public static let conflict = Self(rawValue: 6)
    /// Too many calls.
    public static let rateLimited = Self(rawValue: 7)
    /// The vendor cannot be reached, or says that it cannot serve now.
    public static let unavailable = Self(rawValue: 8)
    /// The deadline passed.
    public static let timedOut = Self(rawValue: 9)
    /// The caller gave the call up.
    public static let cancelled = Self(rawValue: 10)
    /// The host does not permit it.
    public static let denied = Self(rawValue: 11)
    /// More bytes than a limit allows.
    public static let tooLarge = Self(rawValue: 12)
    /// The answer is not what the vendor's protocol says: cut short, or from somebody who stands between.
    public static let protocolViolation = Self(rawValue: 13)
    /// The gate is not open.
    public static let notOpen = Self(rawValue: 14)
    /// An argument breaks the rules of the ABI.
    public static let misuse = Self(rawValue: 102)

    private static let codes: [(status: Self, code: ConnectorError.Code)] = [
        (.failed, .failed), (.invalid, .invalid), (.unsupported, .unsupported), (.unauthorized, .unauthorized),
        (.notFound, .missing), (.conflict, .conflict), (.rateLimited, .rateLimited), (.unavailable, .unavailable),
        (.timedOut, .timedOut), (.cancelled, .cancelled), (.denied, .denied), (.tooLarge, .tooLarge),
        (.protocolViolation, .protocolViolation), (.notOpen, .notOpen),
    ]

    /// The status that stands for a code of the shared values; nil if none does.
    init?(code: ConnectorError.Code) {
        guard let found = Self.codes.first(where: { $0.code == code }) else { return nil }
        self = found.status
    }

    /// The code that reports and answers carry.
    var code: ConnectorError.Code {
        Self.codes.first { $0.status == self }?.code ?? .failed
    }

    /// Whether the same call may succeed later, unless the vendor says otherwise.
    var isUsuallyRetryable: Bool {
        [.rateLimited, .unavailable, .timedOut, .protocolViolation].contains(self)
    }
}
