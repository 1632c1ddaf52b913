// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One escape in a text and its value: percent-encoding, an escape of a string literal, or an HTML character reference.
struct EscapeSequence: Sendable {
    /// The decoded value of an escape.
    private enum Value {
        case byte(UInt8)
        case scalar(Unicode.Scalar)
    }

    private let value: Value
    /// The length of the escape in the text, in bytes.
    let length: Int

    /// Reads the escape at an index; nil if there is none.
    init?(in text: [UInt8], at index: Int) {
        switch text[index] {
        case UInt8(ascii: "%"): self.init(percentIn: text, at: index)
        case UInt8(ascii: "\\"): self.init(literalIn: text, at: index)
        case UInt8(ascii: "&"): self.init(referenceIn: text, at: index)
        default: return nil
        }
    }

    private init(_ byte: UInt8, length: Int) {
        value = .byte(byte)
        self.length = length
    }

    private init(_ scalar: Unicode.Scalar, length: Int) {
        value = .scalar(scalar)
        self.length = length
    }

    /// Whether an escape may start with a byte.
    static func isStart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "&")
    }

    /// Appends the byte, or the UTF-8 of the character.
    func append(to bytes: inout [UInt8]) {
        switch value {
        case .byte(let byte): bytes.append(byte)
        case .scalar(let scalar): bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }
}

extension EscapeSequence {
    /// Percent encoding: `%41`, or `%u0041` of older programs.
    private init?(percentIn text: [UInt8], at index: Int) {
        if let byte = Self.number(in: text, at: index + 1, digits: 2) {
            self.init(UInt8(truncatingIfNeeded: byte), length: 3)
        } else if text[(index + 1)...].first.map({ $0 | 0x20 }) == UInt8(ascii: "u") {
            self.init(unicodeIn: text, at: index)
        } else {
            return nil
        }
    }

    /// The escape of a string literal: `\n`, `\/`, `\101`, `\x41`, `\x{41}`, `\u0041`, a surrogate pair, `\u{41}` or
    /// `\U00000041`.
    private init?(literalIn text: [UInt8], at index: Int) {
        guard index + 1 < text.count else { return nil }
        switch text[index + 1] {
        case UInt8(ascii: "a"): self.init(0x07, length: 2)
        case UInt8(ascii: "b"): self.init(0x08, length: 2)
        case UInt8(ascii: "e"): self.init(0x1B, length: 2)
        case UInt8(ascii: "f"): self.init(0x0C, length: 2)
        case UInt8(ascii: "n"): self.init(0x0A, length: 2)
        case UInt8(ascii: "r"): self.init(0x0D, length: 2)
        case UInt8(ascii: "t"): self.init(0x09, length: 2)
        case UInt8(ascii: "v"): self.init(0x0B, length: 2)
        case UInt8(ascii: "0")...UInt8(ascii: "7"): self.init(octalIn: text, at: index)
        case UInt8(ascii: "x"):
            if let byte = Self.number(in: text, at: index + 2, digits: 2) {
                self.init(UInt8(truncatingIfNeeded: byte), length: 4)
            } else {
                self.init(bracedIn: text, at: index)
            }
        case UInt8(ascii: "u"): self.init(unicodeIn: text, at: index)
        case UInt8(ascii: "U"):
            guard let scalar = Self.number(in: text, at: index + 2, digits: 8).flatMap(Unicode.Scalar.init) else {
                return nil
            }
            self.init(scalar, length: 10)
        case let byte where byte.isPrintable && !byte.isLetterOrDigit: self.init(byte, length: 2)
        default: return nil
        }
    }

    /// One to three octal digits: `\0`, `\12`, `\101`. Before a cut mark, fewer than three may be part of a longer
    /// escape.
    private init?(octalIn text: [UInt8], at index: Int) {
        var value = 0
        var end = index + 1
        while end < min(text.count, index + 4), (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(text[end]) {
            let next = value << 3 | Int(text[end] - UInt8(ascii: "0"))
            guard next <= UInt8.max else { break }
            value = next
            end += 1
        }
        guard end == index + 4 || !TextCut.beginsMark(at: end, of: text) else { return nil }
        self.init(UInt8(truncatingIfNeeded: value), length: end - index)
    }

    /// A character in braces, after two bytes: `\u{41}`, `\x{41}`.
    private init?(bracedIn text: [UInt8], at index: Int) {
        guard index + 2 < text.count, text[index + 2] == UInt8(ascii: "{") else { return nil }
        let (value, end) = Self.digits(in: text, at: index + 3, radix: 16)
        guard let scalar = value.flatMap(Unicode.Scalar.init), end < text.count, text[end] == UInt8(ascii: "}") else {
            return nil
        }
        self.init(scalar, length: end + 1 - index)
    }

    /// A character or a surrogate pair, after two bytes: `\u0041`, `%u0041`, `\ud83d\ude00`, `\u{1f600}`.
    private init?(unicodeIn text: [UInt8], at index: Int) {
        guard let high = Self.number(in: text, at: index + 2, digits: 4) else {
            self.init(bracedIn: text, at: index)
            return
        }
        if let scalar = Unicode.Scalar(high) {
            self.init(scalar, length: 6)
            return
        }
        guard (0xD800..<0xDC00).contains(high), text[(index + 6)...].starts(with: text[index..<(index + 2)]),
            let low = Self.number(in: text, at: index + 8, digits: 4), (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { return nil }
        self.init(scalar, length: 12)
    }

    /// A character reference of HTML: `&amp;`, `&#38;`, `&#x26;`. The semicolon after a number is optional, except
    /// before a cut mark, where digits may be missing as well.
    private init?(referenceIn text: [UInt8], at index: Int) {
        guard index + 1 < text.count else { return nil }
        guard text[index + 1] == UInt8(ascii: "#") else {
            let name = text[(index + 1)...].prefix(HTMLReference.longestName + 1)
            guard let end = name.firstIndex(of: UInt8(ascii: ";")),
                let character = HTMLReference.character(named: name[..<end])
            else { return nil }
            self.init(character, length: end + 1 - index)
            return
        }
        let isHexadecimal = index + 2 < text.count && text[index + 2] | 0x20 == UInt8(ascii: "x")
        let (value, end) = Self.digits(
            in: text,
            at: index + (isHexadecimal ? 3 : 2),
            radix: isHexadecimal ? 16 : 10
        )
        guard let scalar = value.flatMap(Unicode.Scalar.init) else { return nil }
        let isEnded = end < text.count && text[end] == UInt8(ascii: ";")
        guard isEnded || !TextCut.beginsMark(at: end, of: text) else { return nil }
        self.init(scalar, length: end + (isEnded ? 1 : 0) - index)
    }
}

extension EscapeSequence {
    /// A number with exactly `digits` hexadecimal digits; nil for any other text.
    private static func number(in text: [UInt8], at index: Int, digits: Int) -> UInt32? {
        guard index + digits <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[index..<(index + digits)] {
            guard let digit = byte.hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// A number of any length, and the index after it. A number too large for a character saturates.
    private static func digits(in text: [UInt8], at index: Int, radix: UInt32) -> (value: UInt32?, end: Int) {
        var value: UInt32?
        var end = index
        while end < text.count, let digit = text[end].hexDigitValue, digit < radix {
            value = min((value ?? 0) * radix + UInt32(digit), 0x11_0000)
            end += 1
        }
        return (value, end)
    }
}
