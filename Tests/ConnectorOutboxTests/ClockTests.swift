// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorOutbox

/// What the outbox does when the time of day jumps.
@Suite(.timeLimit(.minutes(5))) struct ClockTests {
    /// Answers that the first event is to be tried again, and accepts the others.
    private static let retriesFirst: Vendor.Answer = { events in
        .success(events.map { $0.id == "event-1" ? .retry("later", after: .seconds(60), code: .conflict) : .accepted })
    }

    /// Sets the time of day forward or back.
    private func shift(_ clock: ManualHostClock, by hours: Int64) {
        clock.setWallTime(
            Timestamp(nanoseconds: UInt64(Int64(clock.wallTime().nanoseconds) + hours * 3_600_000_000_000))
        )
    }

    @Test(arguments: [-24, 24, -1, 1] as [Int64])
    func `a retry comes at its time even if the time of day is changed`(_ hours: Int64) async throws {
        let bench = Bench()
        bench.vendor.answers(Self.retriesFirst)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        await bench.clock.timers(atLeast: 2)
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        shift(bench.clock, by: hours)
        let end = bench.clock.now() + 125_000_000_000
        while bench.statistics().queued > 0, bench.clock.now() < end {
            try await bench.looked()
            bench.clock.advance(by: .seconds(1))
        }
        #expect(bench.vendor.batches.last == ["event-1"])
        #expect(bench.statistics().queued == 0)
        await bench.outbox.close()
    }

    @Test func `a time of day that jumps back and forth loses no event and causes no hurried attempts`()
        async throws
    {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(2 * 3600)
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        let start = bench.clock.now()
        for number in 1...60 {
            _ = try await bench.outbox.append(bench.events(number...number), to: ["a"])
            shift(bench.clock, by: number % 2 == 1 ? 1 : -1)
            for _ in 1...20 {
                try await bench.looked()
                bench.clock.advance(by: .seconds(1))
            }
        }
        let minutes = Int((bench.clock.now() - start) / 60_000_000_000)
        #expect((minutes...2 * minutes + 10).contains(bench.vendor.batches.count), "\(bench.vendor.batches.count)")
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        for _ in 1...120 where bench.statistics().queued > 0 {
            try await bench.looked()
            bench.clock.advance(by: .seconds(1))
        }
        #expect(bench.statistics().delivered == 60)
        #expect(bench.statistics().dead == 0)
        await bench.outbox.close()
    }

    @Test func `after a day's outage with an attempt a minute, everything within its age is delivered`()
        async throws
    {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(12 * 3600)
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        // One event an hour: the first eleven or twelve grow too old.
        for hour in 0..<24 {
            _ = try await bench.outbox.append(bench.events(hour + 1...hour + 1), to: ["a"])
            let end = OutboxEvent.start.nanoseconds + UInt64(hour + 1) * 3_600_000_000_000
            while bench.clock.wallTime().nanoseconds < end { await bench.nextAttempt() }
        }
        await bench.paused()
        #expect((1440...1500).contains(bench.vendor.batches.count), "\(bench.vendor.batches.count)")
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        let dead = try await bench.outbox.engine().records(RecordSelection(states: [.dead])).map(\.event.id)
        #expect(dead == (1...dead.count).map { "event-\($0)" } && (11...13).contains(dead.count))
        #expect(bench.vendor.batches.last == (dead.count + 1...24).map { "event-\($0)" })
        #expect(bench.statistics().delivered == 24 - dead.count)
        await bench.outbox.close()
    }

    @Test func `a retry does not wait for hours if the time of day was set back between two processes`() async throws {
        let folder = try Folder()
        let first = Bench(folder: folder)
        first.vendor.answers(Self.retriesFirst)
        try await first.outbox.start(isStored: true)
        _ = try await first.outbox.append(first.events(1...2), to: ["a"])
        await first.until { first.statistics().delivered == 1 }
        await first.outbox.close()
        let second = Bench(folder: folder)
        shift(second.clock, by: -24)
        try await second.outbox.start(isStored: true)
        let end = second.clock.now() + 125_000_000_000
        while second.statistics().queued > 0, second.clock.now() < end {
            try await second.looked()
            second.clock.advance(by: .seconds(1))
        }
        #expect(second.vendor.batches == [["event-1"]])
        await second.outbox.close()
    }

    @Test func `an event does not wait longer for others because the time of day is set back`() async throws {
        var policy = DeliveryPolicy()
        policy.batchAge = .seconds(5)
        let bench = Bench(policy: policy)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        shift(bench.clock, by: -24)
        let end = bench.clock.now() + 20_000_000_000
        while bench.statistics().queued > 0, bench.clock.now() < end {
            try await bench.looked()
            bench.clock.advance(by: .seconds(1))
        }
        #expect(bench.vendor.batches == [["event-1"]])
        await bench.outbox.close()
    }

    @Test func `a dead letter that was too old gets its full age again when it is replayed`() async throws {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3600)
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        while bench.statistics().dead == 0 {
            try await bench.looked()
            bench.clock.advance(by: .seconds(60))
        }
        bench.vendor.answers { .success($0.map { _ in .retry("not yet", after: .seconds(60)) }) }
        let engine = try await bench.outbox.engine()
        #expect(try await engine.replay(RecordSelection()) == 1)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])  // already known, so it only counts again
        await bench.outbox.wake("a")
        for _ in 1...30 {
            try await bench.looked()
            bench.clock.advance(by: .seconds(60))
        }
        #expect(try await engine.records(RecordSelection()).map(\.state) == [.queued])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        while bench.statistics().delivered == 0 {
            try await bench.looked()
            bench.clock.advance(by: .seconds(60))
        }
        #expect(bench.vendor.batches.last == ["event-1"])
        await bench.outbox.close()
    }
}
