// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorBase

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, 1, 1), (-1, 0, 0), (18_446_744_073, 709_551_615, .max), (18_446_744_073, 709_551_616, .max),
            (18_446_744_074, 0, .max), (.max, 0, .max),
        ] as [(Int, Int, UInt64)]
    )
    func `a clock beyond the last moment shows the last moment`(seconds: Int, fraction: Int, nanoseconds: UInt64) {
        #expect(SystemTime.nanoseconds(seconds: seconds, fraction) == nanoseconds)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        (784_111_777_000_000_000, "1994-11-06T08:49:37.000Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_767_355_205_678_900_000, "2026-01-02T12:00:05.678Z", "Fri, 02 Jan 2026 12:00:05 GMT"),
        (.max, "2554-07-21T23:34:33.709Z", "Sun, 21 Jul 2554 23:34:33 GMT"),
    ])
    func `a moment is written for JSON and for HTTP`(nanoseconds: UInt64, text: String, httpDate: String) {
        let moment = Timestamp(nanoseconds: nanoseconds)
        #expect(moment.description == text)
        #expect(moment.httpDate == httpDate)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_767_355_205_678_000_000, "2026-01-02T12:00:05.678Z"),
        (1_767_355_205_000_009_000, "2026-01-02T12:00:05.000009Z"),
        (1_767_355_205_678_900_001, "2026-01-02T12:00:05.678900001Z"),
        (16_756_761_599_999_999_999, "2500-12-31T23:59:59.999999999Z"),
    ])
    func `a moment is written with every digit that it has, and reads back`(nanoseconds: UInt64, text: String) {
        let moment = Timestamp(nanoseconds: nanoseconds)
        #expect(moment.exactText == text)
        #expect(Timestamp(parsing: text) == moment)
        #expect(moment.wholeMilliseconds.exactText == moment.description)
    }

    @Test(arguments: [
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Friday, 02-Jan-26 12:00:05 GMT", 1_767_355_205), ("Fri Jan 12 12:00:05 2026", 1_768_219_205),
    ])
    func `the obsolete dates of HTTP are read, too`(_ text: String, _ seconds: UInt64) {
        #expect(Timestamp(httpDate: text) == Timestamp(nanoseconds: seconds * 1_000_000_000))
    }

    @Test(arguments: [
        ("Fri, 31 Dec 9999 23:59:59 GMT", "2496-12-31T23:59:59Z"),
        ("Tue, 29 Feb 8888 08:49:37 GMT", "2496-02-29T08:49:37Z"),
        ("Fri, 31 Dec 2500 23:59:59 GMT", "2500-12-31T23:59:59Z"),
    ])
    func `a date of HTTP in a year that no moment has is in one of the last`(_ text: String, _ expected: String) throws
    {
        let date = try #require(Timestamp(httpDate: text))
        #expect(date == Timestamp(parsing: expected))
    }

    @Test(arguments: [
        "Sun Nov 6", "Sun Nev  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET", "a-b-c-d-e-f",
        "Sun, 06 Nov year 08:49:37 GMT",
    ])
    func `no other date is`(_ text: String) {
        #expect(Timestamp(httpDate: text) == nil)
    }

    @Test func `a written moment reads back, on every day of four centuries`() {
        for day in 0..<146_097 as Range<UInt64> {
            let moment = Timestamp(nanoseconds: day * 86_400_000_000_000 + day % 86_400 * 1_000_000_000)
            #expect(Timestamp(parsing: moment.description) == moment)
            #expect(Timestamp(httpDate: moment.httpDate) == moment)
        }
    }

    @Test(arguments: [
        "", "2026-01-02", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-02-29T12:00:00Z", "2026-04-31T00:00:00Z", "2100-02-29T00:00:00Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T12:60:00Z", "2026-01-02T12:00:61Z", "2026-01-02T12:00:00.Z", "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
    ])
    func `a text that is not a moment is refused`(text: String) {
        #expect(Timestamp(parsing: text) == nil)
    }

    @Test func `the form in which a moment is written is told apart from every other`() {
        var random = SeededGenerator(seed: 24)
        let letters = Array("0123456789-:.TZtz +".utf8)
        func isWritten(_ text: [UInt8]) -> Bool { Timestamp.isWritten(text.span) }
        func comesBack(_ text: [UInt8]) -> Bool {
            let text = String(decoding: text, as: UTF8.self)
            return Timestamp(parsing: text)?.description == text
        }
        for _ in 0..<2000 {
            let moment = Timestamp(nanoseconds: .random(in: 0...16_725_225_599_999_999_999, using: &random))
            var text = Array(moment.description.utf8)
            #expect(isWritten(text))
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = letters.randomElement(using: &random) ?? 0
            }
            #expect(isWritten(text) == comesBack(text), "\(String(decoding: text, as: UTF8.self))")
            text.removeLast(Int.random(in: 1...24, using: &random))
            #expect(!isWritten(text))
        }
        for text in ["2026-02-30T00:00:00.000Z", "2026-04-31T00:00:00.000Z", "2026-01-02T12:00:60.000Z"] {
            #expect(!isWritten(Array(text.utf8)))
        }
    }
}
