// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259), the form in which structured data crosses the plugin ABI.
///
/// Objects keep the order of their members, and integers stay exact. Needs no Foundation, which would cost a process 4
/// ms and 13 MB at launch.
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction or exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number. JSON has none that is not finite, so calls refuse those.
    case number(Double)
    /// A text.
    case string(String)
    /// A sequence of values.
    case array([JSONValue])
    /// Members by name, in order.
    case object(JSONObject)
}

extension JSONValue {
    /// Compares the kinds and the values; strings by their code points.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let two)): one == two
        case (.integer(let one), .integer(let two)): one == two
        case (.number(let one), .number(let two)): one == two
        case (.string(let one), .string(let two)): ExactText.isSame(one, two)
        case (.array(let one), .array(let two)): one == two
        case (.object(let one), .object(let two)): one == two
        default: false
        }
    }

    /// Hashes the kind and the value; a string by its code points.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(ExactText(value))
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }

    /// A number that differs between the kinds.
    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer: 2
        case .number: 3
        case .string: 4
        case .array: 5
        case .object: 6
        }
    }
}

extension JSONValue {
    /// Parses one JSON text.
    ///
    /// - Parameters:
    ///   - text: UTF-8, at most 64 MiB.
    ///   - file: The file that error positions name.
    /// - Throws: A ``ConnectorError`` of code `syntax` with the position, for anything that RFC 8259 does not allow,
    ///   for a repeated name in an object, and for nesting deeper than ``JSONParser/depthLimit``.
    public init(parsing text: [UInt8], file: String = "") throws(ConnectorError) {
        self = try JSONParser.parse(text, file: file)
    }

    /// Parses a document that holds other values, each of which may be nested as deeply as ``JSONParser/depthLimit`` allows.
    package init(document text: [UInt8], file: String = "") throws(ConnectorError) {
        try self.init(parsing: text, file: file, depthLimit: JSONParser.documentDepthLimit)
    }

    /// Parses one JSON text with one of the limits of ``JSONParser``.
    package init(parsing text: [UInt8], file: String = "", depthLimit: Int) throws(ConnectorError) {
        self = try JSONParser.parse(text, file: file, depthLimit: depthLimit)
    }

    /// Parses one JSON text from a string; see the initializer from bytes.
    public init(parsing text: String, file: String = "") throws(ConnectorError) {
        self = try JSONParser.parse(Array(text.utf8), file: file)
    }

    /// The member of an object; nil for anything else.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    /// The element of an array; nil for anything else, or past its end.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let array) = self, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// The string, if the value is one.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The boolean, if the value is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, if the value is one or is a whole number that fits.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value) where value.magnitude < 0x1p63 && Double(Int64(value)) == value: Int64(value)
        default: nil
        }
    }

    /// Whether it is a number beyond 64 bits with a sign: JSON's integers may be longer than any type.
    package var exceedsIntegers: Bool {
        if case .number(let value) = self { value.magnitude >= 0x1p63 } else { false }
    }

    /// The number, if the value is one.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The elements, if the value is an array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, if the value is an object.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The kind of value with its article, for messages.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number; infinities cannot be written as literals.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// `null`
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; a repeated name keeps its last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
