// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A moment in UTC, written as RFC 3339 with milliseconds: `2026-01-31T09:30:00.250Z`.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public var nanoseconds: UInt64

    /// Creates a moment from nanoseconds since 1970-01-01T00:00:00Z.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The system's time of day, which may jump.
    ///
    /// Code that tests control uses its clock instead: `HostClock.wallTime()` in a host, `ClockService.now` in a
    /// plugin.
    public static var now: Timestamp { Timestamp(nanoseconds: SystemTime.wall()) }

    /// Reads RFC 3339 with any offset; nil for anything else, and for years outside 1970 to 2500.
    public init?(parsing text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] | 0x20 == UInt8(ascii: "t") || bytes[10] == 0x20,
            let time = Self.time(in: bytes.span)
        else { return nil }
        var index = 19
        var fraction = 0
        if bytes[index] == UInt8(ascii: ".") {
            index += 1
            var digits = 0
            while index < bytes.count, bytes[index].isDigit {
                if digits < 9 { fraction = fraction * 10 + Int(bytes[index] - 0x30) }
                digits += 1
                index += 1
            }
            guard digits > 0 else { return nil }
            for _ in min(digits, 9)..<9 { fraction *= 10 }
        }
        var offset = 0
        switch bytes[index...].first {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): index += 1
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard let hours = Self.number(in: bytes.span, at: (index + 1)..<(index + 3)),
                let minutes = Self.number(in: bytes.span, at: (index + 4)..<(index + 6)),
                bytes[index + 3] == 0x3A, hours < 24, minutes < 60
            else { return nil }
            offset = (bytes[index] == UInt8(ascii: "-") ? -60 : 60) * (hours * 60 + minutes)
            index += 6
        default: return nil
        }
        guard index == bytes.count else { return nil }
        let seconds = time.seconds - offset
        guard seconds >= 0 else { return nil }
        nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(fraction)
    }

    /// RFC 3339 in UTC, with milliseconds.
    public var description: String { text(decimals: 3) }

    /// RFC 3339 in UTC, with as many digits as the moment has below the second: 3, 6 or 9. It reads back as the same moment.
    package var exactText: String {
        text(decimals: nanoseconds % 1_000_000 == 0 ? 3 : nanoseconds % 1000 == 0 ? 6 : 9)
    }

    /// The moment without the digits below the millisecond, which ``description`` writes in full.
    package var wholeMilliseconds: Timestamp { Timestamp(nanoseconds: nanoseconds - nanoseconds % 1_000_000) }

    /// The time from an earlier moment to this one, in nanoseconds; zero if that moment is later.
    package func nanoseconds(after earlier: Timestamp) -> UInt64 { nanoseconds - min(nanoseconds, earlier.nanoseconds) }

    /// RFC 3339 in UTC, cut to a number of digits below the second.
    private func text(decimals: Int) -> String {
        let time = CalendarTime(
            seconds: Int(nanoseconds / 1_000_000_000),
            nanosecond: Int(nanoseconds % 1_000_000_000)
        )
        return unsafe String(unsafeUninitializedCapacity: 21 + decimals) { target in
            var index = 0
            func write(_ number: Int, _ width: Int, _ end: Unicode.Scalar) {
                var number = number
                for place in stride(from: index + width - 1, through: index, by: -1) {
                    unsafe target[place] = 0x30 + UInt8(number % 10)
                    number /= 10
                }
                index += width
                unsafe target[index] = UInt8(ascii: end)
                index += 1
            }
            write(time.year, 4, "-")
            write(time.month, 2, "-")
            write(time.day, 2, "T")
            write(time.hour, 2, ":")
            write(time.minute, 2, ":")
            write(time.second, 2, ".")
            write((decimals..<9).reduce(time.nanosecond) { rest, _ in rest / 10 }, decimals, "Z")
            return index
        }
    }

    /// The end of the last year that a text may have.
    private static let end = UInt64(CalendarTime(year: 2501, month: 1, day: 1).seconds) * 1_000_000_000

    /// Whether ``init(parsing:)`` reads what ``description`` writes.
    package var isReadable: Bool { nanoseconds < Self.end }

    /// Whether a text is exactly what ``description`` writes for some moment.
    package static func isWritten(_ text: Span<UInt8>) -> Bool {
        guard text.count == 24, text[10] == UInt8(ascii: "T"), text[19] == UInt8(ascii: "."),
            number(in: text, at: 20..<23) != nil, text[23] == UInt8(ascii: "Z"), let time = time(in: text)
        else { return false }
        // A leap second is written as the moment after.
        return time.second < 60
    }

    /// The date and the time of day at the start of a text, with any byte between them; nil if they are missing.
    private static func time(in text: Span<UInt8>) -> CalendarTime? {
        guard text.count >= 19, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            let year = number(in: text, at: 0..<4), (1970...2500).contains(year),
            let month = number(in: text, at: 5..<7), let day = number(in: text, at: 8..<10),
            let hour = number(in: text, at: 11..<13), let minute = number(in: text, at: 14..<16),
            let second = number(in: text, at: 17..<19)
        else { return nil }
        var time = CalendarTime(year: year, month: month, day: day)
        (time.hour, time.minute, time.second) = (hour, minute, second)
        return time.isPlausible ? time : nil
    }

    /// The number written in a range; nil if the range holds anything but digits.
    private static func number(in text: Span<UInt8>, at place: Range<Int>) -> Int? {
        guard place.upperBound <= text.count else { return nil }
        var number = 0
        for index in place {
            guard text[index].isDigit else { return nil }
            number = number * 10 + Int(text[index] - 0x30)
        }
        return number
    }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}
