// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One field of an HTTP message's header (RFC 9110, section 5).
public struct HTTPField: Sendable, Hashable {
    /// The name as written; comparisons ignore case.
    public var name: String
    /// The text after the colon, without surrounding whitespace.
    public var value: String

    /// Creates a field without changing its name or value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the name equals another, ignoring ASCII case.
    public func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }
}
