// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// Starts with Thursday, the weekday of 1970-01-01.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads the date of an HTTP header in any form of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete
    /// `Sunday, 06-Nov-94 08:49:37 GMT`, whose years are 1970 to 2069 here, and `Sun Nov  6 08:49:37 1994`.
    package init?(httpDate text: String) {
        let parts = text.split { $0 == " " || $0 == "-" }.map(String.init)
        var (day, month, year, time) = ("", "", "", "")
        switch parts.count {
        case 6 where parts[5] == "GMT": (day, month, year, time) = (parts[1], parts[2], parts[3], parts[4])
        case 5: (month, day, time, year) = (parts[1], parts[2], parts[3], parts[4])
        default: return nil
        }
        guard let index = Self.months.firstIndex(of: month) else { return nil }
        if year.utf8.count == 2 { year = (year < "70" ? "20" : "19") + year }
        // A year that a timestamp cannot have is as good as one of the last, and that of a leap day a leap year.
        if year.utf8.count == 4, year.utf8.allSatisfy(\.isDigit), year > "2500" { year = "2496" }
        if day.utf8.count == 1 { day = "0" + day }
        let number = index + 1 < 10 ? "0\(index + 1)" : "\(index + 1)"
        self.init(parsing: "\(year)-\(number)-\(day)T\(time)Z")
    }

    /// The date of an HTTP header, in the preferred form.
    package var httpDate: String {
        let time = CalendarTime(seconds: Int(nanoseconds / 1_000_000_000), nanosecond: 0)
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(Self.weekdays[time.days % 7]), \(padded(time.day)) \(Self.months[time.month - 1]) \(time.year) "
            + "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)) GMT"
    }
}
