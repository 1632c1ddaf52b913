// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Escapes text that could be parsed as markup, or could change how the surrounding text is displayed.
enum Escaping {
    /// Escapes a text for the content of an element or the value of a quoted attribute.
    ///
    /// Control characters, which HTML does not allow, and others that cannot be seen as they are appear as `\u{…}`.
    static func text(_ text: String) -> String {
        escape(text) { "\\u{\(hexadecimal($0))}" }
    }

    /// Escapes a text that a form submits again: the value of a `value` attribute, or the content of a `textarea`.
    ///
    /// Carriage returns and characters that cannot be seen as they are become character references, which a hidden field submits unchanged.
    /// A field of one line drops line ends, and a `textarea` turns each into a carriage return and a line feed (HTML, 4.10.5.1 and
    /// 4.10.11).
    static func value(_ text: String) -> String {
        escape(text) { character in
            // Other control characters are not allowed in a document, not even as references.
            let isReferable = character == "\r" || character.value >= 0xA0
            return isReferable ? "&#x\(hexadecimal(character));" : "\\u{\(hexadecimal(character))}"
        }
    }

    private static func hexadecimal(_ character: Unicode.Scalar) -> String {
        String(character.value, radix: 16, uppercase: true)
    }

    /// Escapes a text, with a function for its hidden characters.
    private static func escape(_ text: String, hidden: (Unicode.Scalar) -> String) -> String {
        // Fast path: nearly every text needs no escaping.
        guard text.utf8.contains(where: isSpecial) else { return text }
        var escaped = ""
        text.forEachScalar { character, isHidden in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(character)
            case _ where isHidden: escaped += hidden(character)
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// Whether a byte may start a character that must be escaped.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        // Control characters; the lead bytes of what has no glyph of its own: U+0080 to U+00BF, U+0340 to U+037F, U+0600 to U+063F,
        // U+1000 to U+3FFF, U+F000 to U+3FFFF and U+C0000 to U+FFFFF.
        case 0..<0x20, 0x7F, 0xC2, 0xCD, 0xD8, 0xE1...0xE3, 0xEF, 0xF0, 0xF3: true
        default: false
        }
    }

    /// The name of a style as a class name: letters, digits and dashes are kept, other bytes are encoded.
    static func className(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            if byte.isLetterOrDigit || byte == UInt8(ascii: "-") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "_" + byte.hexadecimal()
            }
        }
        return text
    }
}
