// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Header fields in the order they arrived, found without regard to case.
public struct HeaderFields: Sendable, Equatable {
    /// One name and its value, as written on the wire.
    public struct Field: Sendable, Equatable {
        /// Spelled as it was sent, for instance `X-Sentry-Auth`.
        public var name: String
        /// Everything after the colon, without the surrounding blanks.
        public var value: String
    }

    /// Every field, repeated names included.
    public private(set) var fields: [Field] = []

    /// Starts without any field.
    public init() {}

    /// Adds another field under `name`, whether or not there is one already.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The first value under `name`; assigning replaces all of them, assigning `nil` removes them.
    package subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Tells whether two header names are equal when ASCII letters are folded.
    public static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).allSatisfy { Self.folded($0) == Self.folded($1) }
    }

    /// Maps `A` to `Z` onto `a` to `z` and leaves every other byte alone.
    private static func folded(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    /// Lists the fields of a literal in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}

extension HeaderFields: Sequence {
    /// Walks the fields in the order they were added.
    public func makeIterator() -> IndexingIterator<[Field]> {
        fields.makeIterator()
    }
}
