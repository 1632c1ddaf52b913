// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The time of a point, in nanoseconds since 1970, from 1677 to 2262.
enum InfluxQLTime {
    /// Reads `YYYY-MM-DD`, optionally with a time, a fraction and `Z` or an offset; nil for anything else.
    static func parse(_ text: String) -> Int64? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), (1678...2261).contains(year)
        else { return nil }
        var time = CalendarTime(year: year, month: month, day: day)
        var offset = 0
        if scanner.skip("T") || scanner.skip("t") || scanner.skip(" ") {
            guard let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2) else { return nil }
            (time.hour, time.minute) = (hour, minute)
            if scanner.skip(":") {
                guard let second = scanner.number(2) else { return nil }
                time.second = second
                if scanner.skip(".") || scanner.skip(",") {
                    guard let nanosecond = scanner.fraction(digits: 9) else { return nil }
                    time.nanosecond = nanosecond
                }
            }
            guard let parsed = scanner.offset() else { return nil }
            offset = parsed
        }
        guard scanner.isAtEnd, time.isPlausible else { return nil }
        return Int64(time.seconds - offset) * 1_000_000_000 + Int64(time.nanosecond)
    }

    /// RFC 3339 with as many fractional digits as needed: `2026-01-02T03:04:05.6789Z`.
    static func rfc3339(_ nanoseconds: Int64) -> String {
        let time = CalendarTime(nanoseconds: nanoseconds)
        var fraction = padded(time.nanosecond, 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(padded(time.year, 4))-\(padded(time.month, 2))-\(padded(time.day, 2))"
            + "T\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2))"
            + "\(fraction.isEmpty ? "" : "." + fraction)Z"
    }

    /// A number with leading zeros, at least `width` digits.
    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
