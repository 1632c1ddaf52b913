// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// Durations, as files write them and as people read them.
@Suite struct DurationTextTests {
    @Test(arguments: [
        ("0s", Duration.zero), ("250ms", .milliseconds(250)), ("5s", .seconds(5)), ("2m", .seconds(120)),
        ("1h", .seconds(3600)),
        ("007s", .seconds(7)), ("8760h", .seconds(31_536_000)), ("31536000000ms", .seconds(31_536_000)),
    ])
    func `a number with a unit is a duration`(text: String, expected: Duration) {
        #expect(Duration(parsing: text) == expected)
    }

    @Test(arguments: [
        "", "5", "s", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5S", "5us", "5d", "1h30m", "8761h", "31536001s",
        "525601m",
        "99999999999999999999s", "31536000001ms", "٥s",
    ])
    func `anything else is not a duration`(text: String) {
        #expect(Duration(parsing: text) == nil)
    }

    @Test(arguments: [("8761h", true), ("99999999999999999999s", true), ("0s", true), ("5d", false), ("s", false)])
    func `a number with a unit that is not accepted is told the range`(text: String, isOutOfRange: Bool) {
        #expect(Duration.range(violatedBy: text) == (isOutOfRange ? "from \"1ms\" to \"8760h\"" : nil))
    }

    @Test func `a duration outside the range of unsigned nanoseconds is clamped`() {
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
        #expect(Duration.seconds(-1).nanoseconds == 0)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).nanoseconds == 1)
    }

    @Test(arguments: [
        (Duration.nanoseconds(900), "0 µs"), (.microseconds(850), "850 µs"), (.milliseconds(12), "12 ms"),
        (.milliseconds(999), "999 ms"), (.milliseconds(1549), "1.5 s"), (.seconds(75), "75.0 s"),
        (.seconds(-1), "0 µs"),
    ])
    func `a duration is shown briefly to people`(duration: Duration, expected: String) {
        #expect(duration.brief == expected)
    }
}
