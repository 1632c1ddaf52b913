// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Serializes JSON, compact or indented.
package struct JSONSerializer {
    /// The text so far.
    package private(set) var bytes: [UInt8] = []
    /// Whether to break lines and indent by two spaces.
    package let isPretty: Bool
    private var level = 0

    /// Starts with an empty text.
    ///
    /// - Parameter capacity: The expected length of the text in bytes, if known.
    package init(isPretty: Bool, capacity: Int = 0) {
        self.isPretty = isPretty
        bytes.reserveCapacity(capacity)
    }

    /// Writes a value of any kind.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(text: String(value))
        case .number(let value): append(text: value.isFinite ? value.description : "null")
        case .string(let value): write(value)
        case .array(let elements):
            list(elements.count, "[", "]") { serializer, index in serializer.write(elements[index]) }
        case .object(let object): write(object)
        }
    }

    /// Writes an object.
    package mutating func write(_ object: JSONObject) {
        let members = object.members
        list(members.count, "{", "}") { serializer, index in
            serializer.write(members[index].name)
            serializer.append(serializer.isPretty ? ": " : ":")
            serializer.write(members[index].value)
        }
    }

    private mutating func list(
        _ count: Int,
        _ open: StaticString,
        _ close: StaticString,
        _ writeElement: (inout Self, Int) -> Void
    ) {
        append(open)
        level += 1
        for index in 0..<count {
            if index > 0 { append(",") }
            breakLine()
            writeElement(&self, index)
        }
        level -= 1
        if count > 0 { breakLine() }
        append(close)
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }

    /// Writes a string.
    package mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if PlainText.isPlain(text.utf8Span.span) {
            append(text: text)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(UInt8(ascii: scalar))
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case _ where scalar.steersDisplay: escape(scalar)
            case _ where scalar.isASCII: bytes.append(UInt8(ascii: scalar))
            default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes an escape such as `\u009b`, or two for a character beyond U+FFFF: parsers read the same character, but a terminal
    /// that shows the text does not act on it.
    private mutating func escape(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            append("\\u")
            append(text: unit.hexadecimal())
        }
    }

    /// Appends part of the text verbatim.
    package mutating func append(_ text: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(text: String) {
        // Native Swift strings are contiguous and appended at once; others are copied byte by byte.
        let isCopied: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe bytes.append(contentsOf: $0) }
        if isCopied == nil { bytes.append(contentsOf: text.utf8) }
    }
}

extension JSONValue: CustomStringConvertible {
    /// Compact JSON.
    public var description: String { serialized() }

    /// JSON text.
    ///
    /// - Parameter isPretty: Whether to break lines and indent.
    public func serialized(pretty isPretty: Bool = false) -> String {
        String(decoding: utf8(pretty: isPretty), as: UTF8.self)
    }

    /// JSON text as UTF-8, the form that crosses the plugin ABI.
    public func utf8(pretty isPretty: Bool = false) -> [UInt8] {
        var serializer = JSONSerializer(isPretty: isPretty)
        serializer.write(self)
        return serializer.bytes
    }
}

extension JSONObject: CustomStringConvertible {
    /// Compact JSON.
    public var description: String { JSONValue.object(self).description }
}
