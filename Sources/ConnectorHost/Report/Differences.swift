// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How often the children of a `compare` composite answered differently.
public struct Differences: Sendable, Hashable {
    /// How many answers were compared.
    public var compared: Int = 0
    /// How many answers differed from the first child's.
    public var different: Int = 0
    /// The last difference, in words.
    public var last: String?
}

extension Differences {
    /// The differences' part of the report.
    var json: JSONValue {
        [
            "compared": .integer(Int64(compared)), "different": .integer(Int64(different)),
            "last": last.map(JSONValue.string) ?? .null,
        ]
    }
}
