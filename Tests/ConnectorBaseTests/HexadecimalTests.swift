// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// Numbers and bytes in hexadecimal.
@Suite struct HexadecimalTests {
    @Test func `a number has as many digits as its type can need`() {
        #expect((0 as UInt8).hexadecimal() == "00" && (10 as UInt8).hexadecimal() == "0a")
        #expect((0xE9 as UInt16).hexadecimal(uppercase: true) == "00E9")
        #expect(UInt64.max.hexadecimal() == "ffffffffffffffff")
    }

    @Test func `a sequence of bytes has the digits of each byte`() {
        let bytes = Array(UInt8.min...UInt8.max)
        let digits = bytes.hexadecimal
        #expect(digits == bytes.map { $0.hexadecimal() }.joined())
        #expect(digits.utf8.allSatisfy { $0.isLowercaseHexDigit })
        var percent: [UInt8] = []
        percent.append(percentEscaping: 0xA5)
        #expect(percent == Array("%A5".utf8))
    }

    @Test(arguments: 0..<16 as Range<UInt8>)
    func `a digit has its value in either case`(_ value: UInt8) {
        #expect(UInt8(hexDigit: value).hexDigitValue == value)
        #expect(UInt8(hexDigit: value, uppercase: true).hexDigitValue == value)
        #expect(UInt8(hexDigit: value).isLowercaseHexDigit)
        #expect(UInt8(hexDigit: value, uppercase: true).isLowercaseHexDigit == (value < 10))
    }
}
