// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorServices

/// A secret of a gate, without its value.
public struct SecretReport: Sendable, Hashable {
    /// The key in the connector's `config`.
    public var field: String
    /// Where the value that was last read comes from, such as `file:key` or `env:KEY`.
    public var source: String
    /// When the value changed, as far as known: when its file was modified, or when this process first read it.
    public var changedAt: Timestamp
    /// Whether the gate uses this value. If not, it still uses an earlier one, or another source's.
    public var isInUse: Bool
    /// Whether the vendor has accepted the value in use: `authenticated` evidence is newer than it.
    ///
    /// A secret is rotated once it is in use and proved; the old one may then be revoked.
    public var isProved: Bool

    /// How long ago the value changed.
    public func age(at time: Timestamp) -> Duration {
        .nanoseconds(Int64(clamping: time.nanoseconds - min(time.nanoseconds, changedAt.nanoseconds)))
    }

    /// The use of the value, in words.
    package var use: String { isInUse ? (isProved ? "in use, proved" : "in use, not proved") : "not in use yet" }
}

extension SecretReport {
    /// Compares the secrets that were last read with those that the current generation uses.
    static func reports(
        read: GatePlan.InstanceConfiguration,
        used: GatePlan.InstanceConfiguration?,
        evidence: [Evidence]
    ) -> [SecretReport] {
        guard !read.origins.isEmpty else { return [] }
        // The evidence is that of the current generation, so it is newer than the secrets that the generation uses. Times of
        // files are not compared with it: they may come from another clock.
        let isAccepted = evidence.contains { $0.kind >= .authenticated }
        return read.origins.sorted { $0.key < $1.key }.map { field, origin in
            let isInUse = used.map { $0.secrets[field] == read.secrets[field] } ?? false
            return SecretReport(
                field: field,
                source: origin.source,
                changedAt: origin.changedAt,
                isInUse: isInUse,
                isProved: isInUse && isAccepted
            )
        }
    }

    /// The secret's part of the report's document.
    var json: JSONValue {
        var object: JSONObject = ["field": .string(field)]
        object["source"] = .string(source)
        object["changedAt"] = .string(changedAt.description)
        object["inUse"] = .bool(isInUse)
        object["proved"] = .bool(isProved)
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
            isProved: json["proved"]?.bool ?? false
        )
    }
}
