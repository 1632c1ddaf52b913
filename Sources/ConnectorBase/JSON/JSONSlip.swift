// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What people write in JSON that other languages allow, and what to write in its place.
///
/// The parser asks only about a text that it has refused.
enum JSONSlip {
    /// What belongs where the slip is.
    enum Place {
        case name
        case colon
        case value
        /// A comma, or the end of an object or an array.
        case next
        /// The end of the text.
        case end
    }

    /// How to write a backslash.
    static let backslash = #"write \\ for a backslash"#

    /// The remedy for what is in place of something else; nil for none.
    static func remedy(for text: [UInt8], at offset: Int, in place: Place) -> String? {
        let rest = text.dropFirst(offset)
        guard let first = rest.first else { return nil }
        if first == UInt8(ascii: "#") || rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8) {
            return "JSON has no comments: remove it, or write a member \"$comment\" where the format skips those"
        }
        switch place {
        case .colon, .end: return nil
        case .next: return remedy(for: first, after: text.prefix(offset).last)
        case .name, .value: break
        }
        if first == UInt8(ascii: "'") { return "write double quotes in place of the single ones" }
        if quotes.contains(where: { rest.starts(with: $0.utf8) }) {
            return "write straight double quotes (\") in place of the typographic ones"
        }
        if first == UInt8(ascii: "+") { return "write the number without a plus sign" }
        if first == UInt8(ascii: "."), rest.dropFirst().first?.isDigit ?? false {
            return "write a digit before the decimal point, such as 0.5"
        }
        let word = rest.prefix(while: \.isWordCharacter)
        guard !word.isEmpty else { return nil }
        return place == .name ? "write the name in double quotes" : remedy(for: String(decoding: word, as: UTF8.self))
    }

    /// The remedy for a word in place of a value.
    private static func remedy(for word: String) -> String {
        switch word.lowercased() {
        case "true", "yes", "on": "write true"
        case "false", "no", "off": "write false"
        case "null", "none", "nil", "undefined": "write null"
        case "nan", "infinity", "inf": "JSON has no such number: write another one, or null"
        default: "if it is a text, write it in double quotes"
        }
    }

    /// The remedy for a byte in place of a comma.
    private static func remedy(for byte: UInt8, after last: UInt8?) -> String? {
        if byte.isDigit, last == UInt8(ascii: "0") { return "write the number without a leading zero" }
        let isApart = last?.isWhitespace ?? false
        let startsValue = "\"{[".utf8.contains(byte) || isApart && (byte.isLetterOrDigit || byte == UInt8(ascii: "-"))
        return startsValue ? "write a comma before it" : nil
    }

    /// The quotation marks of word processors.
    private static let quotes = [
        "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{201A}", "\u{AB}", "\u{BB}",
    ]

    /// The offset of the comma that nothing follows before the bracket at an offset; nil for anything else.
    static func trailingComma(before offset: Int, in text: [UInt8]) -> Int? {
        guard offset < text.count, text[offset] == UInt8(ascii: "}") || text[offset] == UInt8(ascii: "]"),
            let last = text[..<offset].lastIndex(where: { !$0.isWhitespace }), text[last] == UInt8(ascii: ",")
        else { return nil }
        return last
    }

    /// The message and the remedy for a backslash before a byte that it does not escape.
    static func escape(_ byte: UInt8) -> (message: String, fix: String) {
        guard byte > 0x20, byte < 0x7F else { return ("unknown escape", backslash) }
        let character = Unicode.Scalar(byte)
        return (
            "unknown escape \\\(character)", byte == UInt8(ascii: "'") ? "write ' without a backslash" : backslash
        )
    }

    /// How a control character is written in a string.
    static func escape(of control: UInt8) -> String {
        switch control {
        case UInt8(ascii: "\n"): #"\n for a line break"#
        case UInt8(ascii: "\r"): #"\r for a carriage return"#
        case UInt8(ascii: "\t"): #"\t for a tab"#
        default: #"\u"# + UInt16(control).hexadecimal()
        }
    }

    /// The encoding of a text that is UTF-16 or UTF-32, by its byte order mark or, since JSON begins with ASCII, by its zeros; nil for
    /// another.
    static func encoding(of text: [UInt8]) -> String? {
        let start = text.prefix(8)
        func isZero(_ indices: Int...) -> Bool { indices.allSatisfy { $0 < start.count && start[$0] == 0 } }
        func isSet(_ indices: Int...) -> Bool { indices.allSatisfy { $0 < start.count && start[$0] != 0 } }
        let isUTF32 =
            start.starts(with: [0xFF, 0xFE, 0, 0]) || start.starts(with: [0, 0, 0xFE, 0xFF])
            || isZero(0, 1, 2) && isSet(3) || isZero(1, 2, 3) && isSet(0, 4)
        if isUTF32 { return "UTF-32" }
        let isUTF16 =
            start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
            || isZero(0, 2) && isSet(1, 3) || isZero(1, 3) && isSet(0, 2)
        return isUTF16 ? "UTF-16" : nil
    }
}
