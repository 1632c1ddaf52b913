// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox

/// What is said of events that become dead letters.
@Suite(.timeLimit(.minutes(3))) struct DeadLetterTallyTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `each connector is announced at once, and then at most once a minute, with the sum and the last reason`()
    {
        var tally = DeadLetterTally()
        #expect(tally.take(at: 0).isEmpty)
        tally.note(2, of: "a", DeliveryFailure(.invalid, "first"))
        tally.note(1, of: "b", DeliveryFailure(.timedOut, "old"))
        #expect(
            tally.take(at: 5 * Self.second).map { "\($0.path) \($0.count) \($0.failure.reason)" } == [
                "a 2 first", "b 1 old",
            ]
        )
        tally.note(3, of: "a", DeliveryFailure(.invalid, "second"))
        tally.note(4, of: "a", DeliveryFailure(.unauthorized, "third"))
        #expect(tally.take(at: 64 * Self.second).isEmpty)
        let later = tally.take(at: 65 * Self.second)
        #expect(later.map { "\($0.path) \($0.count) \($0.failure.reason)" } == ["a 7 third"])
        #expect(later.map(\.failure.code) == [.unauthorized])
        #expect(tally.take(at: 1000 * Self.second).isEmpty, "it was said")
    }

    @Test func `the end says what has not been said`() {
        var tally = DeadLetterTally()
        tally.note(1, of: "a", DeliveryFailure(.invalid, "first"))
        _ = tally.take(at: 0)
        tally.note(1, of: "a", DeliveryFailure(.invalid, "second"))
        #expect(tally.take(at: 1).isEmpty)
        #expect(tally.take(at: nil).map(\.count) == [1])
    }

    @Test func `the dead letters of an outbox are announced with its look for other processes, and when it closes`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.invalid, isRetryable: false))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        await bench.until { bench.statistics().dead == 1 }
        while bench.deaths.all.isEmpty {
            if bench.clock.timerCount > 0 { bench.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        #expect(bench.deaths.all == [Deaths.Death(path: "a", count: 1, reason: "the vendor says no")])
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"])
        await bench.until { bench.statistics().dead == 2 }
        await bench.outbox.close()
        #expect(bench.deaths.all.map(\.count) == [1, 1])
    }
}
