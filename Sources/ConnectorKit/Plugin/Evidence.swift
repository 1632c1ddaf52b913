// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// One fact that opening or probing proved.
public struct Evidence: Sendable, Hashable {
    /// The degree of proof.
    public var kind: Kind
    /// The proof in words for a person; never a secret.
    public var detail: String

    /// Degrees of proof, weakest first.
    public enum Kind: String, Sendable, Hashable {
        /// The configuration is complete; the vendor was not contacted.
        case configured
        /// The vendor answered.
        case reachable
        /// The vendor accepted the credentials.
        case authenticated
    }

    /// Evidence that the configuration is complete; the vendor was not contacted, because any request would leave a
    /// trace.
    public static func configured(_ detail: String) -> Evidence {
        Evidence(kind: .configured, detail: detail)
    }

    /// Evidence that the vendor answered, which proves nothing about the credentials.
    public static func reachable(_ detail: String) -> Evidence {
        Evidence(kind: .reachable, detail: detail)
    }

    /// Evidence that the vendor accepted the credentials, and would have refused wrong ones.
    public static func authenticated(_ detail: String) -> Evidence {
        Evidence(kind: .authenticated, detail: detail)
    }

    /// The JSON form that `open` and `probe` complete with (`connector/plugin.h`).
    public var json: JSONValue {
        ["kind": .string(kind.rawValue), "detail": .string(detail)]
    }
}
