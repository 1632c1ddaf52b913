// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform
import Synchronization
import Testing

@testable import ConnectorSimulator

/// The clocks of simulations.
@Suite struct SimulatedClockTests {
    @Test func `a fast clock advances sixty seconds in one, and its timers fire accordingly`() {
        let base = ManualHostClock()
        let fast = FastClock(base, speed: 60)
        let (start, wall) = (fast.now(), fast.wallTime())
        #expect(start == base.now() && wall == base.wallTime())
        let isFired = Mutex(false)
        _ = fast.schedule(after: Duration.seconds(60).nanoseconds) { isFired.withLock { $0 = true } }
        base.advance(by: .milliseconds(999))
        #expect(isFired.withLock { $0 } == false)
        base.advance(by: .milliseconds(1))
        #expect(isFired.withLock { $0 })
        #expect(fast.now() - start == Duration.seconds(60).nanoseconds)
        #expect(fast.wallTime().nanoseconds - wall.nanoseconds == Duration.seconds(60).nanoseconds)
    }

    @Test func `a fast clock's timers are never early, can be cancelled, and do not overflow`() {
        let base = ManualHostClock()
        let fast = FastClock(base, speed: 7)
        let start = fast.now()
        let late = Mutex<UInt64>(0)
        _ = fast.schedule(after: 10) { late.withLock { $0 = fast.now() - start } }
        base.advance(by: .nanoseconds(2))
        #expect(late.withLock { $0 } == 14)
        let timer = fast.schedule(after: .max) {}
        #expect(fast.cancel(timer) && !fast.cancel(timer))
        base.advance(by: .seconds(Int64.max / 2))
        #expect(fast.now() == .max)
        #expect(FastClock(base, speed: 0).now() == base.now())
    }

    @Test func `a fast clock tells how much of the system's time passes in its own, and the other way round`() {
        let fast = FastClock(ManualHostClock(), speed: 100)
        #expect(fast.systemTime(of: 1_000_000) == 10_000 && fast.duration(ofSystemTime: 10_000) == 1_000_000)
        #expect(fast.duration(ofSystemTime: .max) == .max)
        let plain: any HostClock = ManualHostClock()
        #expect(plain.systemTime(of: 7) == 7 && plain.duration(ofSystemTime: 7) == 7)
    }

    @Test func `a fast clock's timers that are late fire in the order of their deadlines`() async {
        let clock = FastClock(speed: 60)
        let start = clock.now()
        let order = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            // The first action runs on the clock's thread, which sees the others only afterwards.
            _ = clock.schedule(at: start) {
                _ = clock.schedule(at: start + 180) {
                    order.withLock { $0.append(3) }
                    continuation.resume()
                }
                _ = clock.schedule(at: start + 60) {
                    order.withLock { $0.append(1) }
                    _ = clock.schedule(at: start + 120) { order.withLock { $0.append(2) } }
                }
            }
        }
        #expect(order.withLock(\.self) == [1, 2, 3])
    }

    @Test func `a delay passes on the host's clock, and ends if its task is cancelled`() async {
        let base = ManualHostClock()
        let time = HostTime(base)
        async let slept: Void? = try? time.sleep(for: .seconds(5))
        await base.advance(toTimerAfter: .seconds(5))
        #expect(await slept != nil)
        let sleeping = Task { (try? await time.sleep(for: .seconds(5))) != nil }
        await base.timer(dueAfter: .seconds(5))
        sleeping.cancel()
        #expect(await sleeping.value == false)
        #expect(base.timerCount == 0)
        let (now, later) = (time.now, time.now.advanced(by: .seconds(2)))
        #expect(now.duration(to: later) == .seconds(2) && later.duration(to: now) == .seconds(-2) && now < later)
    }
}
