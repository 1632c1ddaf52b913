// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A day and a time of day in UTC, in the proleptic Gregorian calendar.
package struct CalendarTime {
    package var year: Int
    /// The month, 1 to 12.
    package var month: Int
    /// The day of the month, 1 to 31.
    package var day: Int
    package var hour = 0
    package var minute = 0
    /// The second, 0 to 60: a leap second is written as 60.
    package var second = 0
    package var nanosecond = 0

    /// Midnight at the start of a day.
    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The moment at an offset in nanoseconds from 1970-01-01T00:00:00Z; negative before it.
    package init(nanoseconds: Int64) {
        let (seconds, nanosecond) = Int(nanoseconds).dividedDown(by: 1_000_000_000)
        self.init(seconds: seconds, nanosecond: nanosecond)
    }

    /// The moment at an offset in seconds from 1970-01-01T00:00:00Z; negative before it.
    package init(seconds: Int, nanosecond: Int) {
        let (days, second) = seconds.dividedDown(by: 86_400)
        // Years start in March, so that the leap day is the last day; an era has 400 years.
        let (era, dayOfEra) = (days + 719_468).dividedDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        hour = second / 3600
        minute = second / 60 % 60
        self.second = second % 60
        self.nanosecond = nanosecond
    }

    /// Whether each field is within its range, and the month has the day. A leap second is accepted in any minute.
    package var isPlausible: Bool {
        (1...12).contains(month) && (1...31).contains(day) && hour < 24 && minute < 60 && second <= 60
            && Self(seconds: days * 86_400, nanosecond: 0).day == day
    }

    /// The days since 1970-01-01, negative before.
    package var days: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedDown(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The whole seconds since 1970-01-01T00:00:00Z, negative before.
    package var seconds: Int { days * 86_400 + hour * 3600 + minute * 60 + second }
}

extension Int {
    /// Division that rounds down, so that the remainder is never negative.
    fileprivate func dividedDown(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
