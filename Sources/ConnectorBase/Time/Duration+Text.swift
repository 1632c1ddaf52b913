// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The longest duration of a setting: a year.
    package static var longest: Duration { .seconds(31_536_000) }

    /// Reads a whole number with a unit, `ms`, `s`, `m` or `h`; nil for anything else or for more than a year.
    public init?(parsing text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit: Duration
        switch text.dropFirst(digits.count) {
        case "ms": unit = .milliseconds(1)
        case "s": unit = .seconds(1)
        case "m": unit = .seconds(60)
        case "h": unit = .seconds(3600)
        default: return nil
        }
        guard let count = Int64(digits), Double(count) <= Self.longest / unit else { return nil }
        self = unit * count
    }

    /// The range of durations, if a text that is not accepted as one is a number with a unit; nil if it is anything else.
    ///
    /// - Parameter shortest: The shortest that is accepted.
    package static func range(violatedBy text: String, from shortest: String = "1ms") -> String? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, ["ms", "s", "m", "h"].contains(text.dropFirst(digits.count)) else { return nil }
        return "from \"\(shortest)\" to \"8760h\""
    }

    /// The whole nanoseconds, clamped to the range of `UInt64`.
    package var nanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return overflow || carry ? .max : sum
    }

    /// A short form for people: `850 µs`, `12 ms`, `1.5 s`.
    package var brief: String {
        let microseconds = nanoseconds / 1000
        switch microseconds {
        case ..<1000: return "\(microseconds) µs"
        case ..<1_000_000: return "\(microseconds / 1000) ms"
        default: return "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s"
        }
    }
}
