// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The hexadecimal digits, padded with zeros to the width of the type: two for a `UInt8`, four for a `UInt16`.
    package func hexadecimal(uppercase: Bool = false) -> String {
        let digits = String(self, radix: 16, uppercase: uppercase)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
    }
}

extension Sequence<UInt8> {
    /// Two hexadecimal digits in lower case for each byte.
    @inlinable
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self { digits.append(hexadecimal: byte) }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the two hexadecimal digits of a byte, in ASCII.
    @usableFromInline
    package mutating func append(hexadecimal byte: UInt8, uppercase: Bool = false) {
        append(UInt8(hexDigit: byte >> 4, uppercase: uppercase))
        append(UInt8(hexDigit: byte & 15, uppercase: uppercase))
    }
}
