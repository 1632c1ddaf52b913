// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The remaining size budget of a filled-in template.
///
/// Without a limit, a record that is kept again with two copies of itself inside would double with each call.
struct TemplateBudget {
    /// The most bytes of a filled-in template, counted roughly as JSON.
    static let size = 4 << 20

    private(set) var remaining = size

    /// The bytes taken so far.
    var taken: Int { Self.size - remaining }

    /// Takes bytes.
    ///
    /// - Throws: `too-large` if too few are remaining.
    mutating func take(_ count: Int) throws(ConnectorError) {
        guard count <= remaining else {
            throw ConnectorError(.tooLarge, "a simulated value would have more than \(Self.size >> 20) MiB")
        }
        remaining -= count
    }

    /// Takes the bytes of a value.
    ///
    /// - Parameter depth: The number of arrays and objects around the value.
    /// - Throws: `too-large` if too few are remaining, or if the value is nested too deeply to be sent as JSON.
    mutating func take(_ value: JSONValue, at depth: Int) throws(ConnectorError) {
        switch value {
        case .null, .bool, .integer, .number: try take(8)
        case .string(let text): try take(text.utf8.count + 2)
        case .array(let elements):
            try enter(depth)
            for element in elements { try take(element, at: depth + 1) }
        case .object(let object):
            try enter(depth)
            for member in object.members {
                try take(member.name.utf8.count + 4)
                try take(member.value, at: depth + 1)
            }
        }
    }

    /// Takes the brackets of an array or an object; throws `too-large` as for a value.
    mutating func enter(_ depth: Int) throws(ConnectorError) {
        guard depth < JSONParser.vendorDepthLimit else {
            throw ConnectorError(
                .tooLarge,
                "a simulated value would be nested deeper than \(JSONParser.vendorDepthLimit) levels"
            )
        }
        try take(2)
    }
}
