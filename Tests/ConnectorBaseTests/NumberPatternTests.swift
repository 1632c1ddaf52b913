// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct NumberPatternTests {
    private func matches(_ text: String, _ pattern: String) throws -> Bool { try text.contains(Regex("^\(pattern)$")) }

    @Test(arguments: [1, 2, 9, 10, 11, 19, 20, 60, 99, 100, 101, 999, 1000, 65535] as [UInt64])
    func `the numbers from 1 to a bound match, and no other text does`(_ bound: UInt64) throws {
        let pattern = NumberPattern.upTo(bound)
        let near = [bound / 10, bound / 2, bound - 1, bound, bound + 1, bound + 9, bound * 2, bound * 10]
        for number in near + (0...120) {
            #expect(try matches("\(number)", pattern) == (1...bound).contains(number), "\(number)")
        }
        for text in ["", "01", "+1", "-1", "1.0", "1 "] { #expect(try !matches(text, pattern), "\(text)") }
    }

    @Test func `the largest integers have bounds, too`() throws {
        for (bound, beyond) in [
            (UInt64(UInt32.max), "4294967296"), (UInt64(Int64.max), "9223372036854775808"),
            (UInt64.max, "18446744073709551616"),
        ] {
            #expect(try matches("\(bound)", NumberPattern.upTo(bound)))
            #expect(try !matches(beyond, NumberPattern.upTo(bound)))
        }
    }

    @Test(arguments: [
        "1ms", "0ms", "00s", "007s", "60s", "61s", "1m", "2m", "0060000ms", "60001ms", "1h", "8760h", "8761h",
        "525600m", "525601m", "31536000s", "31536001s", "31536000000ms", "31536000001ms", "1d", "1", "s", "-1s",
    ])
    func `durations match as they are read`(_ text: String) throws {
        let duration = Duration(parsing: text)
        for bound in [Duration.seconds(60), .longest] {
            let isRight = duration.map { $0 > .zero && $0 <= bound } ?? false
            #expect(try matches(text, NumberPattern.durations(upTo: bound)) == isRight)
        }
        #expect(try matches(text, NumberPattern.noTime) == (duration == .zero))
    }
}
