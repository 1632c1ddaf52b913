// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// How many lines a source may add to the log.
@Suite struct LineLimitTests {
    private static let second: UInt64 = 1_000_000_000

    /// What a limit answers to lines of some sizes that come at some times.
    private func answers(_ limit: inout LineLimit, _ lines: [(size: Int, time: UInt64)]) -> [Int?] {
        var answers: [Int?] = []
        for line in lines { answers.append(limit.admit(line.size, at: line.time)) }
        return answers
    }

    @Test func `so many lines of a second are admitted, and the next one brings how many were not`() {
        var limit = LineLimit(lines: 2, bytes: .max)
        let first = answers(&limit, [(9, 7), (9, 7), (9, 7), (9, 8), (9, Self.second - 1)])
        #expect(first == [0, 0, nil, nil, nil])
        let second = answers(&limit, [(1, Self.second), (1, Self.second)])
        #expect(second == [3, 0])
    }

    @Test func `after a line without room for its bytes, no line of that second is admitted`() {
        var limit = LineLimit(lines: 100, bytes: 10)
        let seen = answers(&limit, [(6, 0), (5, 0), (1, 0), (10, Self.second), (1, Self.second)])
        #expect(seen == [0, nil, nil, 2, nil])
    }

    @Test func `what was left out is reported once`() {
        var limit = LineLimit(lines: 0, bytes: .max)
        let seen = answers(&limit, [(0, 0), (0, 0)])
        let reports = [limit.takeLeftOut(), limit.takeLeftOut()]
        #expect(seen == [nil, nil] && reports == [2, 0])
    }

    @Test func `a clock that goes back begins another second`() {
        var limit = LineLimit(lines: 1, bytes: .max)
        let seen = answers(&limit, [(1, 5 * Self.second), (1, 5 * Self.second), (1, 3 * Self.second)])
        #expect(seen == [0, nil, 1])
    }

    @Test func `without a limit, lines of any size are admitted`() {
        var limit = LineLimit.unlimited
        let seen = answers(&limit, [(1 << 40, 0), (1 << 40, 0), (0, 0)])
        #expect(seen == [0, 0, 0])
    }
}
