// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group: UInt32 = 0
            for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
            for index in 0..<4 {
                let isPadding = index > count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(group >> (18 - 6 * UInt32(index)) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text; nil unless it is padded Base64.
    package static func decode(_ text: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 4 * 3)
        for start in stride(from: 0, to: letters.count, by: 4) {
            let isLast = start + 4 == letters.count
            let padding = isLast ? letters[start...].reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count : 0
            var group: UInt32 = 0
            for index in 0..<4 {
                guard let value = index >= 4 - padding ? 0 : value(of: letters[start + index]) else { return nil }
                group = group << 6 | UInt32(value)
            }
            for index in 0..<(3 - padding) {
                bytes.append(UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(index))))
            }
        }
        return bytes
    }

    /// The six bits that a character encodes; nil for any other byte, padding included.
    @inlinable
    package static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case 0x41...0x5A: letter - 0x41
        case 0x61...0x7A: letter - 0x61 + 26
        case 0x30...0x39: letter - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
