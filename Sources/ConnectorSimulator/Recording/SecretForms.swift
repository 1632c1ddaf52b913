// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The forms in which a request may carry a secret: plain, and encoded for a URL, a form, JSON or Base64.
enum SecretForms {
    /// Every form of a secret, in bytes.
    static func all(of secret: String) -> Set<[UInt8]> {
        let percent = PercentCoding.encode(secret)
        let json = String(JSONValue.string(secret).serialized().dropFirst().dropLast())
        let texts = [
            secret, percent, lowercasingEscapes(percent), percent.replacing("%20", with: "+"),
            lowercasingEscapes(percent).replacing("%20", with: "+"), json, json.replacing("/", with: "\\/"),
            escaped(secret, uppercase: false), escaped(secret, uppercase: true),
        ]
        return Set(texts.map { Array($0.utf8) } + base64(secret))
    }

    /// The text with its percent escapes in lower case: `%C3` becomes `%c3`.
    private static func lowercasingEscapes(_ text: String) -> String {
        var (bytes, digits) = ([UInt8](), 0)
        for byte in text.utf8 {
            bytes.append(digits > 0 ? byte.lowercased : byte)
            digits = byte == UInt8(ascii: "%") ? 2 : max(0, digits - 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text escaped for a JSON string that is all ASCII.
    private static func escaped(_ text: String, uppercase: Bool) -> String {
        text.utf16.map { unit in
            switch UInt8(exactly: unit) {
            case UInt8(ascii: "\""): return "\\\""
            case UInt8(ascii: "\\"): return "\\\\"
            case let byte? where byte.isPrintable: return String(UnicodeScalar(byte))
            default: return "\\u" + unit.hexadecimal(uppercase: uppercase)
            }
        }.joined()
    }

    /// The Base64 forms of the text at each of the three byte offsets, in both alphabets; none for a text so short that its
    /// form could occur by chance.
    private static func base64(_ text: String) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        return (0..<3).flatMap { offset -> [[UInt8]] in
            let encoded = Base64.encode([UInt8](repeating: 0, count: offset) + bytes)
            // Keep only the letters that depend on the text alone.
            let end = (offset + bytes.count) * 8 / 6
            let letters = Array(encoded.utf8.prefix(end).dropFirst([0, 2, 3][offset]))
            guard letters.count >= 8 else { return [] }
            let other = letters.map {
                $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
            }
            return [letters, other]
        }
    }
}
