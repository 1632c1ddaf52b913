// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Regular expressions for the numbers in texts, which a JSON Schema cannot compare with a bound in any other way.
package enum NumberPattern {
    /// The decimal numbers from 1 to a bound, without leading zeros, in parentheses.
    ///
    /// - Parameter bound: At least 1.
    package static func upTo(_ bound: UInt64) -> String {
        let digits = Array("\(bound)")
        var choices = digits.count > 1 ? ["[1-9]" + any(upTo: digits.count - 2)] : []
        // A number of as many digits is smaller if it has the first ones of the bound, and then a smaller one.
        for (index, digit) in digits.enumerated() {
            let (lowest, highest) = (index == 0 ? 1 : 0, (digit.wholeNumberValue ?? 0) - 1)
            guard lowest <= highest else { continue }
            choices.append("\(String(digits[..<index]))[\(lowest)-\(highest)]\(any(exactly: digits.count - index - 1))")
        }
        return "(\((choices + [String(digits)]).joined(separator: "|")))"
    }

    /// The durations of more than nothing up to a bound, as `Duration(parsing:)` reads them, in parentheses.
    package static func durations(upTo bound: Duration) -> String {
        let units: [(name: String, length: Duration)] = [
            ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3600)),
        ]
        let choices = units.filter { $0.length <= bound }.map { "\(upTo(UInt64(bound / $0.length)))\($0.name)" }
        return "0*(\(choices.joined(separator: "|")))"
    }

    /// No time at all, with any unit.
    package static let noTime = "0+(ms|s|m|h)"

    private static func any(upTo count: Int) -> String { count == 0 ? "" : "[0-9]{0,\(count)}" }

    private static func any(exactly count: Int) -> String { count == 0 ? "" : "[0-9]{\(count)}" }
}
