// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Serializes JSON, compact or indented.
struct JSONSerializer {
    /// The text so far.
    private(set) var bytes: [UInt8] = []
    /// Whether to break lines and indent by two spaces.
    let isPretty: Bool
    private var level = 0

    init(isPretty: Bool) {
        self.isPretty = isPretty
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .number(let value): append(value.isFinite ? "\(value)" : "null")
        case .string(let value): write(value)
        case .array(let elements):
            list(elements, "[", "]") { serializer, element in serializer.write(element) }
        case .object(let object):
            list(object.members, "{", "}") { serializer, member in
                serializer.write(member.name)
                serializer.append(serializer.isPretty ? ": " : ":")
                serializer.write(member.value)
            }
        }
    }

    private mutating func list<Element>(
        _ elements: [Element],
        _ open: String,
        _ close: String,
        _ writeElement: (inout Self, Element) -> Void
    ) {
        append(open)
        level += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { append(",") }
            breakLine()
            writeElement(&self, element)
        }
        level -= 1
        if !elements.isEmpty { breakLine() }
        append(close)
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }

    /// Writes a string.
    mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain(text) {
            append(text)
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

    /// Whether a text is ASCII that needs no escapes: most texts are, and are copied whole.
    private func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
        }
        return true
    }

    /// Writes `\u009b`: a reader gets the same character, and a terminal that shows the text none.
    private mutating func escape(_ scalar: Unicode.Scalar) {
        let digits = String(scalar.value, radix: 16)
        append("\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits)
    }

    /// Adds a part of the text as it is.
    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
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

    /// JSON text as the bytes that cross the plugin line.
    public func utf8(pretty isPretty: Bool = false) -> [UInt8] {
        var serializer = JSONSerializer(isPretty: isPretty)
        serializer.write(self)
        return serializer.bytes
    }
}
