// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Header fields in their order; names are compared without regard to case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// As it is written.
        public var name: String
        /// Without spaces around it.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in their order; a name may stand more than once.
    public var fields: [Field]

    /// Takes fields in order.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Takes names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map(Field.init)
    }

    /// The value of the first field of a name; setting replaces all of them, setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    private static func isSame(_ first: String, _ second: String) -> Bool {
        first.utf8.count == second.utf8.count && zip(first.utf8, second.utf8).allSatisfy { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
