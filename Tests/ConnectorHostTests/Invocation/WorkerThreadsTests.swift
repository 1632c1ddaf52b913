// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The threads of the host when the system has none to give, and when many want the result of one job. A refused thread that stayed
/// counted would fill the limit.
@Suite(.timeLimit(.minutes(10))) struct WorkerThreadsTests {
    /// A system that refuses threads until it is told otherwise.
    private final class System: Sendable {
        private let state = Mutex((isRefusing: true, refusals: 0))
        /// Counts refusals.
        let refused = CallCounter()

        /// Gives threads from now on.
        func relent() { state.withLock { $0.isRefusing = false } }

        /// Starts a thread, or refuses it.
        func make(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
            guard !state.withLock(\.isRefusing) else {
                refused.add()
                return false
            }
            return HostThread.start(name, body)
        }

        /// Refuses threads again.
        func refuse() { state.withLock { $0.isRefusing = true } }
    }

    @Test func `the caller that gives a job never runs it, and the job runs once there is a thread`() async {
        let system = System()
        let threads = WorkerThreads(limit: 1, isLean: true, makeThread: system.make)
        let order = Journal<String>()
        let ended = CallCounter()
        threads.run {
            order.note("run")
            ended.add()
        }
        order.note("given")
        // The first attempt is the caller's, the others are the clock's.
        await system.refused.reaches(3)
        #expect(order.values == ["given"])
        system.relent()
        await ended.reaches(1)
        #expect(order.values == ["given", "run"])
        #expect(threads.threadCount == 1)
    }

    @Test func `jobs that wait for a thread run in the order they were given`() async {
        let system = System()
        let threads = WorkerThreads(limit: 1, isLean: true, makeThread: system.make)
        let order = Journal<String>()
        let ended = CallCounter()
        for number in 1...100 {
            threads.run {
                order.note("\(number)")
                ended.add()
            }
        }
        #expect(order.values.isEmpty)
        system.relent()
        await ended.reaches(100)
        #expect(order.values == (1...100).map(String.init))
    }

    @Test func `a thread that was refused is not counted while another one works`() async {
        let system = System()
        system.relent()
        let threads = WorkerThreads(limit: 2, isLean: true, makeThread: system.make)
        let (entered, ended) = (CallCounter(), CallCounter())
        let mayLeave = Mutex(false)
        threads.run {
            entered.add()
            while !mayLeave.withLock(\.self) { sched_yield() }
            ended.add()
        }
        await entered.reaches(1)
        system.refuse()
        threads.run { ended.add() }
        await system.refused.reaches(2)
        system.relent()
        await ended.reaches(1)
        #expect(threads.threadCount == 2)
        mayLeave.withLock { $0 = true }
        await ended.reaches(2)
    }

    @Test func `callers that ask while a shared job runs share one run, which begins after they asked`() async {
        let entered = CallCounter()
        let mayLeave = Mutex(false)
        let job = SharedJob(on: WorkerThreads()) {
            entered.add()
            while !mayLeave.withLock(\.self) { sched_yield() }
            return entered.count
        }
        // An immediate task has asked when it is returned.
        let first = Task.immediate { await job.result() }
        await entered.reaches(1)
        let others = (0..<100).map { _ in Task.immediate { await job.result() } }
        mayLeave.withLock { $0 = true }
        #expect(await first.value == 1)
        for other in others { #expect(await other.value == 2) }
        #expect(await job.result() == 3)
    }
}
