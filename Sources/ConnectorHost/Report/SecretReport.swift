// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A secret of a gate, without its value.
public struct SecretReport: Sendable, Hashable {
    /// The key in the connector's `config`.
    public var field: String
    /// Where the value that was last read comes from, such as `file:key` or `env:KEY`.
    public var source: String
    /// When the value changed, as well as the host can tell: when its file was modified, or else when this process
    /// first read the value.
    public var changedAt: Timestamp
    /// Whether the gate uses this value. If not, the gate still uses an earlier value, or one from another source.
    public var isInUse: Bool
    /// Whether the vendor has accepted the value in use: `authenticated` evidence is newer than it.
    ///
    /// A secret is rotated once it is in use and proved; the old one may then be revoked.
    public var isProved: Bool
    /// Why the source can no longer be read; nil if it can. The value may then be another one by now, so it counts as
    /// not in use.
    public var error: String?

    /// How long ago the value changed.
    public func age(at time: Timestamp) -> Duration {
        .nanoseconds(Int64(clamping: time.nanoseconds(after: changedAt)))
    }

    /// The use of the value, in words.
    package var use: String {
        if error != nil { return "cannot be read" }
        return isInUse ? (isProved ? "in use, proved" : "in use, not proved") : "not in use yet"
    }
}

extension SecretReport {
    /// The secret's part of the report's document.
    var json: JSONValue {
        var object: JSONObject = ["field": .string(field)]
        object["source"] = .string(source)
        object["changedAt"] = .string(changedAt.description)
        object["inUse"] = .bool(isInUse)
        object["proved"] = .bool(isProved)
        object["error"] = error.map { .string($0) }
        return .object(object)
    }

    /// Reads the secret's part of a document; nil if a mandatory member is missing.
    init?(json: JSONValue) {
        guard let field = json["field"]?.string, let source = json["source"]?.string,
            let changedAt = json["changedAt"]?.string.flatMap(Timestamp.init(parsing:))
        else { return nil }
        self.init(
            field: field,
            source: source,
            changedAt: changedAt,
            isInUse: json["inUse"]?.bool ?? false,
            isProved: json["proved"]?.bool ?? false,
            error: json["error"]?.string
        )
    }
}
