// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The order of timers, without a clock.
@Suite struct TimerQueueTests {
    @Test func `timers fire in the order of their moments, and then in that of their insertion`() {
        var queue = TimerQueue()
        let fired = Mutex<[Int]>([])
        for (index, deadline) in [30, 10, 20, 10, 0].enumerated() {
            _ = queue.insert(at: UInt64(deadline)) { fired.withLock { $0.append(index) } }
        }
        while let due = queue.popDue(at: 25) { due.action() }
        #expect(fired.withLock { $0 } == [4, 1, 3, 2])
        #expect(queue.nextDeadline() == 30)
        #expect(queue.count == 1)
    }

    @Test func `insertion says when a timer is the first`() {
        var queue = TimerQueue()
        #expect(queue.insert(at: 10) {}.isFirst)
        #expect(!queue.insert(at: 20) {}.isFirst)
        #expect(queue.insert(at: 5) {}.isFirst)
    }

    @Test func `a timer can be removed only once, and is gone then`() {
        var queue = TimerQueue()
        let timer = queue.insert(at: 10) {}.timer
        #expect(queue.remove(timer) != nil)
        #expect(queue.remove(timer) == nil)
        #expect(queue.nextDeadline() == nil)
        #expect(queue.popDue(at: .max) == nil)
    }

    @Test func `thousands of timers stay in order through removals`() {
        var queue = TimerQueue()
        var generator = SeededGenerator(seed: 1)
        var timers: [(HostTimer, UInt64)] = []
        for _ in 0..<5000 {
            let deadline = UInt64.random(in: 0..<1_000_000, using: &generator)
            timers.append((queue.insert(at: deadline) {}.timer, deadline))
        }
        timers.shuffle(using: &generator)
        for (timer, _) in timers.prefix(4000) { #expect(queue.remove(timer) != nil) }
        var order: [UInt64] = []
        while let due = queue.popDue(at: .max) { order.append(due.deadline) }
        #expect(order == timers.dropFirst(4000).map(\.1).sorted())
    }
}
