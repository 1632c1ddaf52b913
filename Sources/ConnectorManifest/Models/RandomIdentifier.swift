// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Identifiers that are unique by chance.
package enum RandomIdentifier {
    /// A random UUID (RFC 9562, version 4) in lower case with hyphens.
    package static func uuid() -> String {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(3 << 62) | 2 << 62
        let digits = hexadecimal(high) + hexadecimal(low)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
