// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The reason a call failed, in the vocabulary that all vendors share (`connector/error.h`).
///
/// A struct, so that statuses can be added without breaking a `switch` elsewhere.
public struct PluginStatus: RawRepresentable, Sendable, Hashable {
    /// The number in the ABI.
    public var rawValue: Int32

    /// Accepts any number; the host treats an unknown one as ``failed``.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Failed for a reason that no other status names.
    public static let failed = Self(rawValue: 1)
    /// The arguments or the configuration are wrong; the same call fails again.
    public static let invalid = Self(rawValue: 2)
    /// The vendor cannot do this.
    public static let unsupported = Self(rawValue: 3)
    /// The vendor refused the credentials.
    public static let unauthorized = Self(rawValue: 4)
    /// The requested object does not exist.
    public static let notFound = Self(rawValue: 5)
    /// The object has changed since it was read, or exists already.
    public static let conflict = Self(rawValue: 6)
    /// Too many calls.
    public static let rateLimited = Self(rawValue: 7)
    /// The vendor cannot be reached, or reports that it is temporarily unavailable.
    public static let unavailable = Self(rawValue: 8)
    /// The deadline passed.
    public static let timedOut = Self(rawValue: 9)
    /// The caller cancelled the call.
    public static let cancelled = Self(rawValue: 10)
    /// The host does not permit it.
    public static let denied = Self(rawValue: 11)
    /// More bytes than a limit allows.
    public static let tooLarge = Self(rawValue: 12)
    /// The answer breaks the vendor's protocol: it is truncated, or comes from a proxy in between.
    public static let protocolViolation = Self(rawValue: 13)
    /// The gate is not open.
    public static let notOpen = Self(rawValue: 14)
    /// An argument breaks the rules of the ABI.
    public static let misuse = Self(rawValue: 102)

    /// The status for an error code; nil if there is none.
    init?(code: ConnectorError.Code) {
        guard let status = code.abiStatus else { return nil }
        self.init(rawValue: status)
    }

    /// The error code that reports and answers carry.
    package var code: ConnectorError.Code {
        ConnectorError.Code(abiStatus: rawValue) ?? .failed
    }

    /// Whether the same call may succeed later, unless the vendor says otherwise.
    var isUsuallyRetryable: Bool {
        [.rateLimited, .unavailable, .timedOut, .protocolViolation].contains(self)
    }
}
