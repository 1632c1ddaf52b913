// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What a host has leased, and when it gets retries again.
@Suite struct NATSLeasesTests {
    private static let second: UInt64 = 1_000_000_000

    /// The time of day a number of seconds after the start.
    private func time(_ seconds: UInt64) -> Timestamp {
        Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + seconds * Self.second)
    }

    /// Leases whose only event is to be retried in a minute.
    private func leases() -> NATSLeases {
        var leases = NATSLeases(lease: 30 * Self.second)
        leases.settle([1], retries: [(time: time(60), reply: "1")], time: time(0), now: 0)
        return leases
    }

    @Test func `a retry is waited for when the server is about to redeliver it, with no other event`() {
        var leases = leases()
        #expect(leases.prepare(100, now: 59 * Self.second, time: time(59)).due == 0)
        let preparation = leases.prepare(100, now: 59 * Self.second, time: time(60))
        #expect(preparation.due == 1 && preparation.room == 100 && preparation.recalled.isEmpty)
        #expect(preparation.wait == Self.second + Self.second / 2)
        #expect(leases.retryCount == 0)
    }

    @Test(arguments: [7200, UInt64(Int64.max) / 1_000_000_000 - 1_800_000_000])
    func `a retry that is due by the time of day is taken back, and not waited for, if the server holds it back`(
        _ later: UInt64
    ) {
        var leases = leases()
        let full = leases.prepare(0, now: 10 * Self.second, time: time(later))
        #expect(full.recalled.isEmpty && leases.retryCount == 1)
        let preparation = leases.prepare(100, now: 10 * Self.second, time: time(later))
        #expect(preparation.due == 0 && preparation.recalled == ["1"] && preparation.room == 99)
        #expect(leases.retryCount == 0)
    }

    @Test func `a retry that is wanted at once is taken back from the server`() {
        var leases = leases()
        leases.expediteRetries(at: time(10))
        #expect(leases.nextRetry == time(10))
        #expect(leases.prepare(100, now: 10 * Self.second, time: time(10)).recalled == ["1"])
    }

    @Test func `a retry comes no later if the time of day is set back`() {
        var leases = leases()
        let earlier = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds - 3600 * Self.second)
        leases.rewind(now: 20 * Self.second, time: earlier)
        let due = Timestamp(nanoseconds: earlier.nanoseconds + 40 * Self.second)
        #expect(leases.nextRetry == due)
    }
}
