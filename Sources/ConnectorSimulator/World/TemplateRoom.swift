// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How much a filled template may still take.
///
/// A record that is kept again with itself in it twice would otherwise double with each call.
struct TemplateRoom {
    /// The most bytes of a filled template, counted roughly as its JSON.
    static let size = 4 << 20

    private(set) var left = size

    /// The bytes taken so far.
    var taken: Int { Self.size - left }

    /// Takes bytes.
    ///
    /// - Throws: `too-large` if there are too few.
    mutating func take(_ count: Int) throws(ConnectorError) {
        guard count <= left else {
            throw ConnectorError(.tooLarge, "a simulated value would have more than \(Self.size >> 20) MiB")
        }
        left -= count
    }

    /// Takes the bytes of a value.
    ///
    /// - Parameter depth: How many arrays and objects are around the value.
    /// - Throws: `too-large` if there are too few, or the value is nested too deep to be sent as JSON.
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

    /// Takes the brackets of an array or an object.
    mutating func enter(_ depth: Int) throws(ConnectorError) {
        guard depth < JSONParser.depthLimit else {
            throw ConnectorError(
                .tooLarge,
                "a simulated value would be nested deeper than \(JSONParser.depthLimit) levels"
            )
        }
        try take(2)
    }
}
