// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Base 64 with the standard alphabet and padding (RFC 4648, section 4).
package enum Base64 {
    /// The 64 digits in order.
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Writes `bytes` with padding and without line breaks.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var encoded: [UInt8] = []
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                for shift in [18, 12, 6, 0] { encoded.append(alphabet[Int(group >> UInt32(shift) & 0x3F)]) }
                group = 0
                held = 0
            }
        }
        if held == 1 {
            encoded += [alphabet[Int(group >> 2)], alphabet[Int(group << 4 & 0x3F)]] + Array("==".utf8)
        } else if held == 2 {
            encoded += [alphabet[Int(group >> 10)], alphabet[Int(group >> 4 & 0x3F)], alphabet[Int(group << 2 & 0x3F)]]
            encoded.append(UInt8(ascii: "="))
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Reads `text`, with or without padding, in the standard or the URL alphabet; `nil` for any other character.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var decoded: [UInt8] = []
        var group: UInt32 = 0
        var held = 0
        var isPadded = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "=") {
                isPadded = true
                continue
            }
            guard !isPadded, let digit = value(of: byte) else { return nil }
            group = (group << 6 | UInt32(digit)) & 0xFF_FFFF
            held += 1
            if held == 4 {
                decoded += [UInt8(group >> 16 & 0xFF), UInt8(group >> 8 & 0xFF), UInt8(group & 0xFF)]
                group = 0
                held = 0
            }
        }
        switch held {
        case 0: break
        case 2: decoded.append(UInt8(group >> 4 & 0xFF))
        case 3: decoded += [UInt8(group >> 10 & 0xFF), UInt8(group >> 2 & 0xFF)]
        default: return nil
        }
        return decoded
    }

    /// Six bits of one digit of either alphabet.
    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
