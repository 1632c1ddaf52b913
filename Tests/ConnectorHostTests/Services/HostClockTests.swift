// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The system's clock, and the one that tests move.
@Suite struct HostClockTests {
    @Test func `a timer of the system does not fire before its moment`() async {
        let clock = SystemHostClock()
        let start = clock.now()
        let end = await withCheckedContinuation { continuation in
            _ = clock.schedule(after: 5_000_000) { continuation.resume(returning: clock.now()) }
        }
        #expect(end - start >= 5_000_000)
    }

    @Test func `a later timer does not hold up an earlier one`() async {
        let clock = SystemHostClock()
        let late = clock.schedule(after: .max) {}
        await withCheckedContinuation { continuation in
            _ = clock.schedule(after: 1_000_000) { continuation.resume() }
        }
        #expect(clock.cancel(late))
        #expect(!clock.cancel(late))
    }

    @Test func `a deadline of the system's clock is never early, whatever the delay`() {
        let clock = SystemHostClock()
        for delay in [50_000_000, 200_000_000, 30_000_000_000] as [UInt64] {
            for _ in 1...1000 {
                let (before, deadline, after) = (clock.now(), clock.deadline(after: delay), clock.now())
                #expect(before + delay <= deadline && deadline <= after + delay)
            }
        }
    }

    @Test func `timers that are late fire in the order of their deadlines`() async {
        let clock = SystemHostClock()
        let order = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            // The first action runs on the clock's thread, which sees the others only afterwards.
            _ = clock.schedule(at: 0) {
                _ = clock.schedule(at: 3) {
                    order.withLock { $0.append(3) }
                    continuation.resume()
                }
                _ = clock.schedule(at: 1) {
                    order.withLock { $0.append(1) }
                    _ = clock.schedule(at: 2) { order.withLock { $0.append(2) } }
                }
            }
        }
        #expect(order.withLock(\.self) == [1, 2, 3])
    }

    @Test func `thousands of timers all fire`() async {
        let clock = SystemHostClock()
        let counter = CallCounter()
        for index in 0..<5000 {
            _ = clock.schedule(after: UInt64(index % 7) * 100_000) { counter.add() }
        }
        await counter.reaches(5000)
        #expect(counter.count == 5000)
    }

    @Test func `a timer is either cancelled or fires`() async {
        let clock = SystemHostClock()
        let fired = CallCounter()
        var random = SeededGenerator(seed: 50)
        var cancelled = 0
        for _ in 0..<1000 {
            let timer = clock.schedule(after: .random(in: 0..<50_000, using: &random)) { fired.add() }
            if clock.cancel(timer) { cancelled += 1 }
        }
        await fired.reaches(1000 - cancelled)
        let last = CallCounter()
        _ = clock.schedule(after: 1_000_000) { last.add() }
        await last.reaches(1)
        #expect(fired.count == 1000 - cancelled)
    }

    @Test func `a cancelled timer lets go of what its action holds`() {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let clock = SystemHostClock()
            let held = Token()
            token = held
            let timer = clock.schedule(after: .max) { withExtendedLifetime(held) {} }
            #expect(clock.cancel(timer))
        }
        #expect(token == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `a clock that is dropped takes its timers along`() async throws {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let clock = SystemHostClock()
            let held = Token()
            token = held
            _ = clock.schedule(after: .max) { withExtendedLifetime(held) {} }
        }
        // The clock's thread, which exits, lets go of them.
        while token != nil { try await Task.checkedYield() }
    }

    @Test func `the system's times are plausible`() {
        let clock = SystemHostClock()
        #expect(clock.wallTime().nanoseconds > 1_600_000_000_000_000_000)
        #expect(clock.now() <= clock.now())
    }

    @Test(arguments: [99_999_999_999, 100_000_000_000])
    func `a timer for a moment that a manual clock has reached fires at once`(_ moment: UInt64) {
        let clock = ManualHostClock(now: .seconds(100))
        let fired = Mutex(false)
        let timer = clock.schedule(at: moment) { fired.withLock { $0 = true } }
        #expect(fired.withLock { $0 })
        #expect(!clock.cancel(timer))
        let next = clock.schedule(at: 100_000_000_001) {}
        #expect(clock.timerCount == 1)
        #expect(clock.cancel(next))
    }

    @Test(.timeLimit(.minutes(1))) func `a cancelled task does not wait for a manual clock's timers`() async {
        let (clock, other) = (ManualHostClock(), ManualHostClock())
        let now = clock.now()
        let waits: [@Sendable () async -> Void] = [
            { await clock.timers(atLeast: 1) }, { await clock.timer(dueAfter: .seconds(1)) },
            { await clock.advance(toTimerAfter: .seconds(1)) },
            { await other.advance(by: .seconds(1)) { await other.timer(dueAfter: .seconds(5)) } },
        ]
        let tasks = waits.map { wait in Task { await wait() } }
        // Let some of them begin to wait.
        for _ in 1...10 { await Task.yield() }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        #expect(clock.now() == now)
        #expect(clock.timerCount == 0 && other.timerCount == 0)
    }

    @Test func `a manual clock stops at every timer on its way`() {
        let clock = ManualHostClock(now: .nanoseconds(100), wallTime: Timestamp(nanoseconds: 1_000_000))
        let seen = Mutex<[UInt64]>([])
        _ = clock.schedule(after: 10) {
            seen.withLock { $0.append(clock.now()) }
            _ = clock.schedule(after: 5) { seen.withLock { $0.append(clock.now()) } }
        }
        _ = clock.schedule(after: 30) { seen.withLock { $0.append(clock.now()) } }
        clock.advance(by: .nanoseconds(20))
        #expect(seen.withLock { $0 } == [110, 115])
        #expect(clock.now() == 120)
        #expect(clock.wallTime().nanoseconds == 1_000_020)
        clock.advance(by: .nanoseconds(10))
        #expect(seen.withLock { $0 } == [110, 115, 130])
        #expect(clock.timerCount == 0)
    }
}
