// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// How often the children of a `compare` composite answered differently.
public struct Differences: Sendable, Hashable {
    /// Answers that were compared.
    public var compared: Int = 0
    /// Answers that were not the first child's.
    public var different: Int = 0
    /// The last difference, for people.
    public var last: String?
}

extension Differences {
    /// As the report shows them.
    var json: JSONValue {
        [
            "compared": .integer(Int64(compared)), "different": .integer(Int64(different)),
            "last": last.map(JSONValue.string) ?? .null,
        ]
    }
}
