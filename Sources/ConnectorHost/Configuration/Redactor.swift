// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorServices

/// Removes secrets from texts before people see them.
///
/// Finds each secret in plain text, percent-encoded, JSON-escaped, in any mixture of these, and inside base64, as in
/// Basic credentials. Costs nothing without secrets, and one pass otherwise.
package struct Redactor: Sendable {
    /// The shortest secret to redact; a shorter one would damage ordinary words.
    package static let minimumLength = 4

    /// The secrets, by their first byte.
    private let needles: [[[UInt8]]]
    /// The base64 forms of the secrets, by their first letter.
    private let encoded: [[[UInt8]]]
    /// Whether there are no secrets to find.
    package let isEmpty: Bool

    /// Takes the secrets to look for.
    package init(_ secrets: some Sequence<Secret>) {
        let values = Set(secrets.map { Array($0.reveal().utf8) }.filter { $0.count >= Self.minimumLength })
        isEmpty = values.isEmpty
        needles = Self.buckets(of: values)
        encoded = Self.buckets(of: Set(values.flatMap(Self.encodings)))
    }

    /// Groups texts by their first byte, in 256 buckets; no buckets if there are no texts.
    private static func buckets(of texts: Set<[UInt8]>) -> [[[UInt8]]] {
        var buckets: [[[UInt8]]] = Array(repeating: [], count: texts.isEmpty ? 0 : 256)
        for text in texts { buckets[Int(text[0])].append(text) }
        return buckets
    }

    /// The text with `•••` in place of every secret.
    package func redact(_ text: String) -> String {
        guard !isEmpty else { return text }
        let bytes = Array(text.utf8)
        let hits = hits(in: bytes)
        guard !hits.isEmpty else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var copied = 0
        for hit in hits {
            result += bytes[copied..<hit.lowerBound]
            result += Secret.mask.utf8
            copied = hit.upperBound
        }
        result += bytes[copied...]
        return String(decoding: result, as: UTF8.self)
    }

    /// The ranges of secrets, in order, overlapping ones merged.
    private func hits(in text: [UInt8]) -> [Range<Int>] {
        var hits: [Range<Int>] = []
        let hasEscapes = text.contains {
            $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "+")
        }
        for index in text.indices {
            guard let hit = hit(in: text, at: index, hasEscapes: hasEscapes) else { continue }
            if let last = hits.last, hit.lowerBound < last.upperBound {
                hits[hits.count - 1] = min(last.lowerBound, hit.lowerBound)..<max(last.upperBound, hit.upperBound)
            } else {
                hits.append(hit)
            }
        }
        return hits
    }

    /// The longest secret that starts at an index.
    private func hit(in text: [UInt8], at index: Int, hasEscapes: Bool) -> Range<Int>? {
        let byte = text[index]
        var end = index
        for needle in needles[Int(byte)] where text[index...].starts(with: needle) {
            end = max(end, index + needle.count)
        }
        for needle in hasEscapes ? needlesThatMayStart(at: index, in: text) : [] {
            if let decoded = Self.end(of: needle, in: text, at: index) { end = max(end, decoded) }
        }
        if end > index { return index..<end }
        guard encoded[Int(byte)].contains(where: { text[index...].starts(with: $0) }) else { return nil }
        // The letters on either side carry bits of the secret, too.
        var range = index..<index
        while range.lowerBound > 0, Self.isBase64(text[range.lowerBound - 1]) {
            range = (range.lowerBound - 1)..<range.upperBound
        }
        while range.upperBound < text.count, Self.isBase64(text[range.upperBound]) {
            range = range.lowerBound..<(range.upperBound + 1)
        }
        return range
    }
}

/// Escapes.
extension Redactor {
    /// The secrets that may start with the byte or escape at an index.
    private func needlesThatMayStart(at index: Int, in text: [UInt8]) -> [[UInt8]] {
        switch text[index] {
        case UInt8(ascii: "%"), UInt8(ascii: "\\"): needles[Int(Self.unit(in: text, at: index).bytes[0])]
        case UInt8(ascii: "+"): needles[0x20] + needles[Int(UInt8(ascii: "+"))]
        default: needles[Int(text[index])]
        }
    }

    /// The end of a secret that starts at an index, escaped or not; nil if it is not there.
    private static func end(of needle: [UInt8], in text: [UInt8], at start: Int) -> Int? {
        var index = start
        var matched = 0
        while matched < needle.count {
            guard index < text.count else { return nil }
            let (unit, length) = unit(in: text, at: index)
            guard needle[matched...].starts(with: unit) || (text[index] == UInt8(ascii: "+") && needle[matched] == 0x20)
            else { return nil }
            matched += text[index] == UInt8(ascii: "+") ? 1 : unit.count
            index += length
        }
        return index
    }

    /// The byte that a byte or escape stands for, and its length in the text.
    private static func unit(in text: [UInt8], at index: Int) -> (bytes: [UInt8], length: Int) {
        let byte = text[index]
        if byte == UInt8(ascii: "%"), let value = hexadecimal(text, at: index + 1, digits: 2) {
            return ([UInt8(value)], 3)
        }
        guard byte == UInt8(ascii: "\\"), index + 1 < text.count else { return ([byte], 1) }
        switch text[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([text[index + 1]], 2)
        case UInt8(ascii: "b"): return ([0x08], 2)
        case UInt8(ascii: "f"): return ([0x0C], 2)
        case UInt8(ascii: "n"): return ([0x0A], 2)
        case UInt8(ascii: "r"): return ([0x0D], 2)
        case UInt8(ascii: "t"): return ([0x09], 2)
        case UInt8(ascii: "u"): return scalar(in: text, at: index) ?? ([byte], 1)
        default: return ([byte], 1)
        }
    }

    /// The character that `\u00e9` or a surrogate pair stands for.
    private static func scalar(in text: [UInt8], at index: Int) -> (bytes: [UInt8], length: Int)? {
        guard let high = hexadecimal(text, at: index + 2, digits: 4) else { return nil }
        if let scalar = Unicode.Scalar(high) { return (Array(String(Character(scalar)).utf8), 6) }
        guard (0xD800..<0xDC00).contains(high), index + 7 < text.count, text[index + 6] == UInt8(ascii: "\\"),
            text[index + 7] == UInt8(ascii: "u"), let low = hexadecimal(text, at: index + 8, digits: 4),
            (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { return nil }
        return (Array(String(Character(scalar)).utf8), 12)
    }

    private static func hexadecimal(_ text: [UInt8], at index: Int, digits: Int) -> UInt32? {
        guard index + digits <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[index..<(index + digits)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

/// Base64.
extension Redactor {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// The letters that any base64 text containing the value must have, whatever surrounds the value.
    private static func encodings(of value: [UInt8]) -> [[UInt8]] {
        ["+/", "-_"].flatMap { extra -> [[UInt8]] in
            let letters = alphabet + Array(extra.utf8)
            return (0..<3).map { offset in
                let bits = 8 * value.count
                // The value starts 8 × offset bits into a group of 24; only whole groups of 6 bits are its own.
                let first = (8 * offset + 5) / 6 * 6 - 8 * offset
                return stride(from: first, through: bits - 6, by: 6).map { start in
                    var letter = 0
                    for bit in start..<(start + 6) { letter = letter << 1 | Int(value[bit / 8] >> (7 - bit % 8) & 1) }
                    return letters[letter]
                }
            }
        }
    }
}
