// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How often the children of a `compare` or `shadow` composite gave different answers.
public struct Differences: Sendable, Hashable {
    /// The number of answers compared.
    public var compared: Int = 0
    /// The number of answers that differed from the first child's.
    public var different: Int = 0
    /// The number of calls that were not copied, because too many copies were still without an answer.
    public var skipped: Int = 0
    /// A description of the last difference.
    public var last: String?
}

extension Differences {
    /// The differences' part of the report.
    var json: JSONValue {
        [
            "compared": .integer(Int64(compared)), "different": .integer(Int64(different)),
            "skipped": .integer(Int64(skipped)),
            "last": last.map(JSONValue.string) ?? .null,
        ]
    }
}
