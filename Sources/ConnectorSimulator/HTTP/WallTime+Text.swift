// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension WallTime {
    /// A calendar day and a time of day in UTC.
    private struct Parts {
        var year: Int64
        var month: Int64
        var day: Int64
        var hour: Int64
        var minute: Int64
        var second: Int64
        var nanosecond: Int64
        /// 0 is Thursday, the day of the epoch.
        var weekday: Int64
    }

    /// ISO 8601 with milliseconds, as JavaScript writes it: `2026-01-02T03:04:05.678Z`.
    package var iso8601: String {
        let parts = self.parts
        return "\(date(parts))T\(time(parts)).\(Self.padded(parts.nanosecond / 1_000_000, 3))Z"
    }

    /// RFC 3339 with as many digits of a second as the moment has: `2026-01-02T03:04:05.6789Z`.
    package var rfc3339: String {
        let parts = self.parts
        var fraction = Self.padded(parts.nanosecond, 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(date(parts))T\(time(parts))\(fraction.isEmpty ? "" : "." + fraction)Z"
    }

    /// The format of `Last-Modified` and `Date` (RFC 9110, section 5.6.7): `Fri, 02 Jan 2026 03:04:05 GMT`.
    package var httpDate: String {
        let parts = self.parts
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(days[Int(parts.weekday)]), \(Self.padded(parts.day, 2)) \(months[Int(parts.month - 1)]) "
            + "\(Self.padded(parts.year, 4)) \(time(parts)) GMT"
    }

    /// Reads `YYYY-MM-DD`, optionally with a time, a fraction and `Z` or an offset; `nil` for anything else.
    package init?(iso8601 text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), (1678...2261).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var hour: Int64 = 0
        var minute: Int64 = 0
        var second: Int64 = 0
        var fraction: Int64 = 0
        var offset: Int64 = 0
        if scanner.skip("T") || scanner.skip("t") || scanner.skip(" ") {
            guard let hours = scanner.number(2), scanner.skip(":"), let minutes = scanner.number(2) else { return nil }
            (hour, minute) = (hours, minutes)
            if scanner.skip(":") {
                guard let seconds = scanner.number(2) else { return nil }
                second = seconds
                if scanner.skip(".") || scanner.skip(",") {
                    guard let nanoseconds = scanner.fraction(digits: 9) else { return nil }
                    fraction = nanoseconds
                }
            }
            guard let parsed = scanner.offset() else { return nil }
            offset = parsed
        }
        guard scanner.isAtEnd, hour < 24, minute < 60, second < 61 else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(nanoseconds: seconds * 1_000_000_000 + fraction)
    }

    /// The calendar fields, computed in the proleptic Gregorian calendar.
    private var parts: Parts {
        let (seconds, nanosecond) = Self.divide(nanoseconds, by: 1_000_000_000)
        let (days, second) = Self.divide(seconds, by: 86_400)
        // A year is counted from March, so that the leap day is its last one; an era has 400 years.
        let (era, dayOfEra) = Self.divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return Parts(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
            month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            nanosecond: nanosecond,
            weekday: Self.divide(days, by: 7).remainder
        )
    }

    /// Days from the epoch to a calendar day.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = divide(shifted, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// `YYYY-MM-DD`.
    private func date(_ parts: Parts) -> String {
        "\(Self.padded(parts.year, 4))-\(Self.padded(parts.month, 2))-\(Self.padded(parts.day, 2))"
    }

    /// `hh:mm:ss`.
    private func time(_ parts: Parts) -> String {
        "\(Self.padded(parts.hour, 2)):\(Self.padded(parts.minute, 2)):\(Self.padded(parts.second, 2))"
    }

    /// A number with zeros in front, `width` digits at least.
    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
