// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// One thing that opening or probing proved.
public struct Evidence: Sendable, Hashable {
    /// How much was proved.
    public var kind: Kind
    /// What was proved, for a person; never a secret.
    public var detail: String

    /// Degrees of proof, weakest first.
    public enum Kind: String, Sendable, Hashable {
        /// Nothing was asked; the configuration is complete.
        case configured
        /// The vendor answered.
        case reachable
        /// The vendor accepted the credentials.
        case authenticated
    }

    /// Nothing could be asked without leaving a trace.
    public static func configured(_ detail: String) -> Evidence {
        Evidence(kind: .configured, detail: detail)
    }

    /// The vendor answered, which says nothing of the credentials.
    public static func reachable(_ detail: String) -> Evidence {
        Evidence(kind: .reachable, detail: detail)
    }

    /// The vendor accepted the credentials, and would have refused wrong ones.
    public static func authenticated(_ detail: String) -> Evidence {
        Evidence(kind: .authenticated, detail: detail)
    }

    /// As `open` and `probe` complete with it (`connector/plugin.h`).
    public var json: JSONValue {
        ["kind": .string(kind.rawValue), "detail": .string(detail)]
    }
}
