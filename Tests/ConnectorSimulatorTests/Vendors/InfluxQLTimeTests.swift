// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorSimulator

@Suite struct InfluxQLTimeTests {
    @Test(arguments: [
        ("2026-01-02T12:00:00Z", 1_767_355_200_000),
        ("2026-01-02T13:00:00+01:00", 1_767_355_200_000),
        ("2026-01-02T12:00:00.25Z", 1_767_355_200_250),
        ("2026-01-02 12:00", 1_767_355_200_000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2000-02-29", 951_782_400_000),
    ])
    func `a date is read`(text: String, milliseconds: Int64) {
        #expect(InfluxQLTime.parse(text) == milliseconds * 1_000_000)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-01-02T25:00:00Z", "2026-01-02Tnoon", "2026-01-02T12:00:00Zx", "9999-01-01",
    ])
    func `a text that is not a date is refused`(text: String) {
        #expect(InfluxQLTime.parse(text) == nil)
    }

    @Test(arguments: [
        (1_767_355_205_678_900_000, "2026-01-02T12:00:05.6789Z"),
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (.min, "1677-09-21T00:12:43.145224192Z"),
    ])
    func `a time is written with the digits that it has`(nanoseconds: Int64, text: String) {
        #expect(InfluxQLTime.rfc3339(nanoseconds) == text)
    }
}
