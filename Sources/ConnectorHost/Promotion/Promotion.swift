// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// Why a plugin with `"isolation": "auto"` is in a runner.
public struct Promotion: Sendable, Hashable {
    /// What happened in the host's process, or why the last runner ended.
    public var reason: String
    /// When that happened.
    public var at: Timestamp
    /// When the plugin may return to the host's process: at its next opening after this time, if nothing more happens.
    public var until: Timestamp

    /// Creates a promotion, for example in tests of code that reads one.
    public init(reason: String, at: Timestamp, until: Timestamp) {
        self.reason = reason
        self.at = at
        self.until = until
    }

    /// One line for people.
    package var text: String { "in a runner until \(until), because \(reason) (\(at))" }
}

extension Promotion {
    /// The promotion's part of the report.
    var json: JSONValue {
        ["reason": .string(reason), "at": .string(at.description), "until": .string(until.description)]
    }

    /// Reads the document; nil if a member is missing.
    init?(json: JSONValue) {
        guard let reason = json["reason"]?.string,
            let at = json["at"]?.string.flatMap({ Timestamp(parsing: $0) }),
            let until = json["until"]?.string.flatMap({ Timestamp(parsing: $0) })
        else { return nil }
        self.init(reason: reason, at: at, until: until)
    }
}
