// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Adds a value as the place that it is put into wants it written.
    mutating func append(_ value: String, _ encoding: SecretTemplate.Encoding) {
        switch encoding {
        case .verbatim: append(contentsOf: value.utf8)
        case .percent: for byte in value.utf8 { appendPercentEncoded(byte) }
        case .json: for byte in value.utf8 { appendJSONEscaped(byte) }
        }
    }

    /// RFC 3986, section 2.3: only unreserved characters stay.
    private mutating func appendPercentEncoded(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            append(byte)
        default:
            append(percentEscaping: byte)
        }
    }

    /// Adds `%XX`.
    mutating func append(percentEscaping byte: UInt8) {
        append(UInt8(ascii: "%"))
        append(hexadecimalDigit(byte >> 4))
        append(hexadecimalDigit(byte & 15))
    }

    /// RFC 8259, section 7: the least that must be escaped.
    private mutating func appendJSONEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0..<0x20:
            append(contentsOf: "\\u00".utf8)
            append(hexadecimalDigit(byte >> 4))
            append(hexadecimalDigit(byte & 15))
        default:
            append(byte)
        }
    }

    private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
