// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@Suite struct SemanticVersionTests {
    @Test(arguments: ["0.0.0", "1.2.3", "4294967295.0.1", "1.0.0-alpha", "1.0.0-0.3.7", "1.0.0-x-y.7z", "1.0.0--"])
    func `versions are read and written alike`(text: String) {
        #expect(SemanticVersion(text)?.description == text)
    }

    @Test(arguments: [
        "", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "01.2.3", "1.02.3", "1..3", "-1.2.3", "+1.2.3", "1.2.3-",
        "1.2.3-a..b",
        "1.2.3-a_b", "1.2.3-01", "1.2.3-ä", "1.2.3+build", " 1.2.3", "1.2.3 ", "4294967296.0.0", "1.2.٣",
    ])
    func `anything else is not a version`(text: String) {
        #expect(SemanticVersion(text) == nil)
    }

    @Test func `precedence follows the standard`() throws {
        let texts = [
            "0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
            "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-a", "2.0.0",
        ]
        let versions = try texts.map { try #require(SemanticVersion($0)) }
        #expect(versions.shuffled().sorted() == versions)
        for (index, version) in versions.enumerated() {
            #expect(versions.enumerated().allSatisfy { (version < $1) == (index < $0) })
        }
        #expect(SemanticVersion(1, 2, 3) == SemanticVersion("1.2.3"))
    }
}

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
    func `anything else is none`(text: String) {
        #expect(Duration(parsing: text) == nil)
    }

    @Test func `nanoseconds are held within what can be said`() {
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
    func `people read them briefly`(duration: Duration, expected: String) {
        #expect(duration.brief == expected)
    }
}
