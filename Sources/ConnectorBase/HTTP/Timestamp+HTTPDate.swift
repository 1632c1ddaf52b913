// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// Starts with Thursday, the weekday of 1970-01-01.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads the date of an HTTP header (RFC 9110, section 5.6.7, preferred form): `Sun, 06 Nov 1994 08:49:37 GMT`.
    package init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = Self.months.firstIndex(where: { $0 == parts[2] }) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        self.init(parsing: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    /// The date of an HTTP header, in the preferred form.
    package var httpDate: String {
        let time = CalendarTime(seconds: Int(nanoseconds / 1_000_000_000), nanosecond: 0)
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(Self.weekdays[time.days % 7]), \(padded(time.day)) \(Self.months[time.month - 1]) \(time.year) "
            + "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)) GMT"
    }
}
