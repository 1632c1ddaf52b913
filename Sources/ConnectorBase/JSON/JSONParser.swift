// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Parses JSON (RFC 8259) in one pass over its bytes, and locates errors.
///
/// Stricter than the standard in one point: a repeated name in an object is an error, because one of its values would
/// be lost.
public struct JSONParser {
    /// The deepest allowed nesting of arrays and objects in a value: an argument, a record, a setting, an event, a file.
    ///
    /// Values are checked against this limit on the way in. Code that reads them again uses a higher one, because they may have been
    /// nested since.
    public static let depthLimit = 128
    /// The deepest allowed nesting of what a vendor answers: values, in the pages and envelopes of its protocol.
    package static let vendorDepthLimit = depthLimit + 8
    /// The deepest allowed nesting of a plugin's result: what a vendor answered, in records, pages and lists.
    package static let resultDepthLimit = vendorDepthLimit + 8
    /// The deepest allowed nesting of a document that holds results or values: a request or an answer of the host, a batch of events,
    /// a file that a plugin keeps. Each composite above a leaf adds two levels to an answer.
    package static let documentDepthLimit = resultDepthLimit + 72
    /// The greatest length of a text, in bytes.
    public static let sizeLimit = 64 << 20

    private let text: [UInt8]
    private let file: String
    private let limit: Int
    private var index = 0
    private var depth = 0

    private init(_ text: [UInt8], file: String, depthLimit: Int) {
        self.text = text
        self.file = file
        limit = depthLimit
    }

    static func parse(
        _ text: [UInt8],
        file: String,
        depthLimit: Int = depthLimit
    ) throws(ConnectorError) -> JSONValue {
        var parser = JSONParser(text, file: file, depthLimit: depthLimit)
        guard text.count <= sizeLimit else { throw parser.error("the text is longer than \(sizeLimit >> 20) MiB") }
        try parser.checkEncoding()
        let value = try parser.value()
        parser.skipSpace()
        guard parser.index == text.count else {
            throw parser.error("expected the end after the value", fix: parser.remedy(.end))
        }
        return value
    }

    // MARK: Values

    private mutating func value() throws(ConnectorError) -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return try number()
        default: throw expected("a value", .value)
        }
    }

    private mutating func object() throws(ConnectorError) -> JSONValue {
        try enter()
        var members: [JSONObject.Member] = []
        var names = MemberIndex()
        skipSpace()
        if consume("}") {
            depth -= 1
            return .object(JSONObject())
        }
        repeat {
            skipSpace()
            let start = index
            guard peek == UInt8(ascii: "\"") else { throw expected("a name in double quotes", .name) }
            let name = try string()
            guard names.claim(name, among: members) == nil else {
                throw error("the name \"\(name.excerpt)\" occurs twice in this object", at: start)
            }
            skipSpace()
            guard consume(":") else { throw expected("':' after the name \"\(name.excerpt)\"", .colon) }
            members.append(JSONObject.Member(name: name, value: try value()))
            skipSpace()
        } while consume(",")
        guard consume("}") else { throw expected("',' or '}' in an object", .next) }
        depth -= 1
        return .object(JSONObject(unique: members, names))
    }

    private mutating func array() throws(ConnectorError) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        skipSpace()
        if consume("]") {
            depth -= 1
            return .array([])
        }
        repeat {
            elements.append(try value())
            skipSpace()
        } while consume(",")
        guard consume("]") else { throw expected("',' or ']' in an array", .next) }
        depth -= 1
        return .array(elements)
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(ConnectorError) -> JSONValue {
        let start = index
        for byte in "\(word)".utf8 {
            guard peek == byte else { throw error("expected \(word)", fix: remedy(.value, at: start)) }
            index += 1
        }
        return value
    }

    private mutating func number() throws(ConnectorError) -> JSONValue {
        let start = index
        var isInteger = true
        _ = consume("-")
        if !consume("0") { try digits() }
        if consume(".") {
            isInteger = false
            try digits()
        }
        if consume("e") || consume("E") {
            isInteger = false
            if !consume("+") { _ = consume("-") }
            try digits()
        }
        let digits = String(decoding: text[start..<index], as: UTF8.self)
        if isInteger, let value = Int64(digits) { return .integer(value) }
        guard let value = Double(digits), value.isFinite else {
            throw error("the number \(digits.excerpt) is out of range", at: start)
        }
        return .number(value)
    }

    private mutating func digits() throws(ConnectorError) {
        guard let first = peek, first.isDigit else { throw error("expected a digit, found \(found)") }
        while let next = peek, next.isDigit { index += 1 }
    }

    // MARK: Strings

    private mutating func string() throws(ConnectorError) -> String {
        let opening = index
        index += 1
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
        if consume("\"") { return try utf8(text[start..<(index - 1)], at: start) }
        var bytes = [UInt8](text[start..<index])
        while let byte = peek {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return try utf8(bytes[...], at: start)
            case UInt8(ascii: "\\"): try escape(into: &bytes)
            case 0..<0x20:
                let fix = "write \(JSONSlip.escape(of: byte))"
                throw error("a control character in a string must be escaped", fix: fix, at: index - 1)
            default: bytes.append(byte)
            }
        }
        throw error("the string that starts here does not end", at: opening)
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(ConnectorError) {
        let start = index - 1
        guard let byte = peek else { throw error("the text ends inside an escape", at: start) }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = try hexadecimal()
            if (0xD800..<0xDC00).contains(scalar) {
                guard consume("\\"), consume("u") else { throw error("a high surrogate needs a low one", at: start) }
                let low = try hexadecimal()
                guard (0xDC00..<0xE000).contains(low) else {
                    throw error("a high surrogate needs a low one", at: start)
                }
                scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let character = Unicode.Scalar(scalar) else {
                throw error("a low surrogate needs a high one", at: start)
            }
            bytes.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
        default:
            let (message, fix) = JSONSlip.escape(byte)
            throw error(message, fix: fix, at: start)
        }
    }

    private mutating func hexadecimal() throws(ConnectorError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = byte.hexDigitValue else {
                throw error("expected four hexadecimal digits after \\u", fix: JSONSlip.backslash)
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }

    /// Validates through a span: the generic `String(validating:)` takes four times as long.
    private func utf8(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(ConnectorError) -> String {
        guard let characters = try? UTF8Span(validating: bytes.span) else {
            throw error("the string is not UTF-8", at: offset)
        }
        return String(copying: characters)
    }

    // MARK: Bytes

    private var peek: UInt8? { index < text.count ? text[index] : nil }

    private var found: String {
        guard let byte = peek else { return "the end" }
        if byte > 0x20 && byte < 0x7F { return "'\(Character(Unicode.Scalar(byte)))'" }
        // Beyond ASCII, name the whole character if it is valid UTF-8.
        let rest = text[index...].prefix(4)
        for length in 2...4 where byte >= 0x80 && length <= rest.count {
            guard let text = String(validating: rest.prefix(length), as: UTF8.self),
                let scalar = text.unicodeScalars.first
            else { continue }
            return "'\(scalar)' (\(Self.name(of: scalar)))"
        }
        return byte < 0x80
            ? "the control character \(Self.name(of: Unicode.Scalar(byte)))" : "byte \(byte), which is not UTF-8"
    }

    /// The scalar's name in Unicode notation, such as `U+FEFF`.
    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Rejects a byte order mark, UTF-16 and UTF-32, which some editors write.
    private func checkEncoding() throws(ConnectorError) {
        // Nearly every text begins with two bytes of ASCII.
        guard text.count > 1, text[0] >= 0x80 || text[0] == 0 || text[1] == 0 else { return }
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw error("the text begins with a byte order mark; save it as UTF-8 without one")
        }
        if let encoding = JSONSlip.encoding(of: text) {
            throw error("the text is \(encoding); save it as UTF-8 without a byte order mark")
        }
    }

    private mutating func skipSpace() {
        while let byte = peek, byte.isWhitespace { index += 1 }
    }

    private mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard let byte = peek, byte == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func enter() throws(ConnectorError) {
        guard depth < limit else { throw error("nested deeper than \(limit) levels") }
        depth += 1
        index += 1
    }

    // MARK: Errors

    /// The error for anything else where something is expected. If it follows a comma that has to go, the comma is the place.
    private func expected(_ what: String, _ place: JSONSlip.Place) -> ConnectorError {
        if let comma = JSONSlip.trailingComma(before: index, in: text) {
            return error("expected \(what) after this comma, found \(found)", fix: "remove the comma", at: comma)
        }
        return error("expected \(what), found \(found)", fix: remedy(place))
    }

    private func remedy(_ place: JSONSlip.Place, at offset: Int? = nil) -> String? {
        JSONSlip.remedy(for: text, at: offset ?? index, in: place)
    }

    private func error(_ message: String, fix: String? = nil, at offset: Int? = nil) -> ConnectorError {
        let position = FilePosition(file: file, offset: offset ?? index, in: text)
        return ConnectorError(.syntax, message, fix: fix, position: position)
    }
}
