// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension [UInt8] {
    /// Appends a value in the encoding that its position requires.
    package mutating func append(_ value: String, _ encoding: SecretTemplate.Encoding) {
        switch encoding {
        case .verbatim: append(contentsOf: value.utf8)
        case .percent: for byte in value.utf8 { append(percentEncoding: byte) }
        case .json: for byte in value.utf8 { appendJSONEscaped(byte) }
        }
    }

    /// Appends a byte with the minimal escaping of RFC 8259, section 7.
    private mutating func appendJSONEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0..<0x20:
            append(contentsOf: "\\u00".utf8)
            append(hexadecimal: byte, uppercase: true)
        default:
            append(byte)
        }
    }
}
