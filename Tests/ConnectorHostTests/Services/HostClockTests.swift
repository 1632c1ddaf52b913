// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The system's clock, and the one that tests move.
@Suite struct HostClockTests {
    @Test func `the system's timers fire, not before their moment`() async {
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

    @Test func `thousands of timers all fire`() async {
        let clock = SystemHostClock()
        let counter = CallCounter()
        for index in 0..<5000 {
            _ = clock.schedule(after: UInt64(index % 7) * 100_000) { counter.add() }
        }
        await counter.reaches(5000)
        #expect(counter.count == 5000)
    }

    @Test func `cancelling and firing exclude each other`() async {
        let clock = SystemHostClock()
        let fired = CallCounter()
        var cancelled = 0
        for _ in 0..<1000 {
            let timer = clock.schedule(after: UInt64.random(in: 0..<50_000)) { fired.add() }
            if clock.cancel(timer) { cancelled += 1 }
        }
        await fired.reaches(1000 - cancelled)
        let last = CallCounter()
        _ = clock.schedule(after: 1_000_000) { last.add() }
        await last.reaches(1)
        #expect(fired.count == 1000 - cancelled)
    }

    @Test func `a clock that is dropped takes its timers along`() {
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
