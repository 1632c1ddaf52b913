// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// A text with its escapes decoded, and the place of each byte in the original.
///
/// One pass decodes percent encoding, the escapes of JSON and of most languages' string literals, and HTML's character
/// references, in any mixture. What is not an escape stays as it is.
struct UnescapedText: Sendable {
    /// The decoded bytes.
    private(set) var bytes: [UInt8] = []
    /// For each byte, where its escape starts in the original; at the end, the original's length.
    private(set) var starts: [Int] = []
    /// Whether there was any escape.
    private(set) var isChanged = false

    /// Decodes every escape once, so that `%2541` becomes `%41`.
    init(_ text: [UInt8]) {
        guard text.contains(where: { Self.isEscape($0) }) else {
            bytes = text
            return
        }
        bytes.reserveCapacity(text.count)
        starts.reserveCapacity(text.count + 1)
        var index = 0
        while index < text.count {
            let byte = text[index]
            let found = Self.isEscape(byte) ? Self.escape(in: text, at: index) : nil
            isChanged = isChanged || found != nil
            let (decoded, length) = found ?? (.byte(byte), 1)
            decoded.append(to: &bytes)
            starts += repeatElement(index, count: bytes.count - starts.count)
            index += length
        }
        starts.append(text.count)
    }

    /// Where a range of the decoded bytes stands in the original.
    func original(_ range: Range<Int>) -> Range<Int> {
        guard isChanged, !range.isEmpty else { return range }
        // A character of several bytes has one escape: its end is the next start that differs.
        let last = starts[range.upperBound - 1]
        var next = range.upperBound
        while next < bytes.count, starts[next] == last { next += 1 }
        return starts[range.lowerBound]..<starts[next]
    }

    /// What an escape stands for.
    private enum Decoded {
        case byte(UInt8)
        case scalar(Unicode.Scalar)

        func append(to bytes: inout [UInt8]) {
            switch self {
            case .byte(let byte): bytes.append(byte)
            case .scalar(let scalar): bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }

    private static func isEscape(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "&")
    }

    /// The escape at an index and its length; nil if there is none.
    private static func escape(in text: [UInt8], at index: Int) -> (Decoded, Int)? {
        switch text[index] {
        case UInt8(ascii: "%"): number(in: text, at: index + 1, digits: 2).map { (.byte(UInt8($0)), 3) }
        case UInt8(ascii: "&"): reference(in: text, at: index)
        default: literal(in: text, at: index)
        }
    }

    /// The escape of a string literal: `\n`, `\/`, `\x41`, `\u0041`, a surrogate pair, or `\u{41}`.
    private static func literal(in text: [UInt8], at index: Int) -> (Decoded, Int)? {
        guard index + 1 < text.count else { return nil }
        switch text[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return (.byte(text[index + 1]), 2)
        case UInt8(ascii: "b"): return (.byte(0x08), 2)
        case UInt8(ascii: "f"): return (.byte(0x0C), 2)
        case UInt8(ascii: "n"): return (.byte(0x0A), 2)
        case UInt8(ascii: "r"): return (.byte(0x0D), 2)
        case UInt8(ascii: "t"): return (.byte(0x09), 2)
        case UInt8(ascii: "x"): return number(in: text, at: index + 2, digits: 2).map { (.byte(UInt8($0)), 4) }
        case UInt8(ascii: "u"): return unicode(in: text, at: index)
        default: return nil
        }
    }

    private static func unicode(in text: [UInt8], at index: Int) -> (Decoded, Int)? {
        if index + 2 < text.count, text[index + 2] == UInt8(ascii: "{") {
            let (value, end) = digits(in: text, at: index + 3, radix: 16)
            guard let scalar = value.flatMap(Unicode.Scalar.init), end < text.count, text[end] == UInt8(ascii: "}")
            else { return nil }
            return (.scalar(scalar), end + 1 - index)
        }
        guard let high = number(in: text, at: index + 2, digits: 4) else { return nil }
        if let scalar = Unicode.Scalar(high) { return (.scalar(scalar), 6) }
        guard (0xD800..<0xDC00).contains(high), text[(index + 6)...].starts(with: [0x5C, 0x75]),
            let low = number(in: text, at: index + 8, digits: 4), (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { return nil }
        return (.scalar(scalar), 12)
    }

    private static let references: [(name: [UInt8], byte: UInt8)] = [
        ("amp", UInt8(ascii: "&")), ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")),
        ("quot", UInt8(ascii: "\"")), ("apos", UInt8(ascii: "'")), ("nbsp", UInt8(ascii: " ")),
    ].map { (Array($0.0.utf8) + [UInt8(ascii: ";")], $0.1) }

    /// A character reference of HTML: `&amp;`, `&#38;`, `&#x26;`.
    private static func reference(in text: [UInt8], at index: Int) -> (Decoded, Int)? {
        guard index + 1 < text.count else { return nil }
        guard text[index + 1] == UInt8(ascii: "#") else {
            return references.first { text[(index + 1)...].starts(with: $0.name) }
                .map { (.byte($0.byte), $0.name.count + 1) }
        }
        let isHexadecimal = index + 2 < text.count && text[index + 2] | 0x20 == UInt8(ascii: "x")
        let (value, end) = digits(in: text, at: index + (isHexadecimal ? 3 : 2), radix: isHexadecimal ? 16 : 10)
        guard let scalar = value.flatMap(Unicode.Scalar.init), end < text.count, text[end] == UInt8(ascii: ";") else {
            return nil
        }
        return (.scalar(scalar), end + 1 - index)
    }

    /// A number with exactly so many hexadecimal digits.
    private static func number(in text: [UInt8], at index: Int, digits: Int) -> UInt32? {
        guard index + digits <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[index..<(index + digits)] {
            guard let digit = PercentCoding.value(ofHexDigit: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// A number of up to eight digits, and the index behind it.
    private static func digits(in text: [UInt8], at index: Int, radix: UInt32) -> (value: UInt32?, end: Int) {
        var value: UInt32?
        var end = index
        while end < text.count, end - index < 8, let digit = PercentCoding.value(ofHexDigit: text[end]), digit < radix {
            value = (value ?? 0) &* radix &+ UInt32(digit)
            end += 1
        }
        return (value, end)
    }
}
