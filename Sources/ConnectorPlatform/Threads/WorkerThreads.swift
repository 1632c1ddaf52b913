// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import DequeModule

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Threads on which the host loads plugins and calls them where they might block.
///
/// A plugin must not block, but the host must not depend on that: neither the cooperative pool nor another gate may wait
/// for one that does. So jobs run on as many threads as there are processors, or on one, and more are added only while none of
/// those takes a job for a millisecond: a wake-up across processors costs 20 µs.
///
/// They are a task executor, too: what the host does between two steps of a gate runs here, ahead of the jobs that wait, so
/// that opening many gates wakes no thread of the cooperative pool.
///
/// Threads start with the first job and end after a few idle seconds. A job that never returns keeps its thread. While the system
/// has no thread to give, jobs wait for one of those there are, and the clock's thread asks again every millisecond.
package final class WorkerThreads: Sendable {
    /// Something to do, once.
    package typealias Job = @Sendable () -> Void

    /// Starts a thread that runs something; false if the system has none to give.
    package typealias MakeThread = @Sendable (StaticString, @escaping Job) -> Bool

    private struct State: Sendable {
        /// Parts of tasks, which never block: they go first.
        var tasks = Deque<UnownedJob>()
        var jobs = Deque<Job>()
        var threads = 0
        var idle = 0
        /// How many were ever begun: it stands still while all threads are held.
        var begun = 0
        var isWatched = false

        /// How many wait for a thread.
        var waiting: Int { tasks.count + jobs.count }
    }

    /// What a thread does next.
    private enum Work: Sendable {
        case task(UnownedJob)
        case job(Job)
    }

    private let monitor = Monitor(State())
    private let limit: Int
    private let eager: Int
    private let isLean: Bool
    /// Tells when jobs have waited long enough.
    private let clock: SystemHostClock
    private let makeThread: MakeThread

    /// How long jobs may wait before threads are added, in nanoseconds.
    private static let patience: UInt64 = 1_000_000
    /// How long a thread waits for a job before it ends, in nanoseconds.
    private static let idleTime: UInt64 = 5_000_000_000

    /// Starts nothing.
    ///
    /// - Parameters:
    ///   - limit: The most threads at once; jobs wait beyond that.
    ///   - isLean: Whether one thread is enough, unless a job holds it: a further one ends as soon as others go on.
    ///   - clock: Whose thread looks after the jobs that wait.
    ///   - makeThread: Where threads come from; tests let it fail.
    package init(
        limit: Int = 512,
        isLean: Bool = false,
        clock: SystemHostClock = SystemHostClock(),
        makeThread: @escaping MakeThread = { HostThread.start($0, $1) }
    ) {
        self.limit = limit
        self.isLean = isLean
        self.clock = clock
        self.makeThread = makeThread
        self.eager = isLean ? 1 : max(1, min(limit, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Runs a job on one of the threads, soon. Jobs begin in the order they were given.
    package func run(_ job: @escaping Job) {
        submit { $0.jobs.append(job) }
    }

    private func submit(_ add: (inout State) -> Void) {
        enum Next { case wake, addThread, watch(Int), nothing }
        let next = monitor.withLock { state -> Next in
            add(&state)
            if state.idle >= state.waiting { return .wake }
            if state.threads < eager {
                state.threads += 1
                return .addThread
            }
            guard !state.isWatched else { return .nothing }
            state.isWatched = true
            return .watch(state.begun)
        }
        switch next {
        case .wake: monitor.signal()
        case .addThread: addThread()
        case .watch(let begun): watch(since: begun, added: 0)
        case .nothing: break
        }
    }

    /// Runs something on one of the threads and waits for what it makes.
    package func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        let result = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// How many threads there are.
    package var threadCount: Int { monitor.withLock(\.threads) }

    /// Starts a thread that is counted already; without any to be had it is counted out again, and the jobs are watched.
    ///
    /// - Returns: Whether the system had a thread to give.
    @discardableResult
    private func addThread() -> Bool {
        if makeThread("connector-work", { self.work() }) { return true }
        let begun = monitor.withLock { state -> Int? in
            state.threads -= 1
            guard state.waiting > 0, !state.isWatched else { return nil }
            state.isWatched = true
            return state.begun
        }
        if let begun { watch(since: begun, added: 0) }
        return false
    }

    /// Takes jobs until there has been none for a while.
    private func work() {
        let executor = unsafe asUnownedTaskExecutor()
        var begun = Int.max
        while let work = nextWork(after: &begun) {
            switch work {
            case .task(let part): unsafe part.runSynchronously(on: executor)
            case .job(let job): job()
            }
        }
    }

    /// What to do next; nil to end.
    ///
    /// - Parameter begun: The number of what this thread did last, of all that were begun; then of what it does next.
    private func nextWork(after begun: inout Int) -> Work? {
        var end: UInt64?
        return monitor.wait { state in
            if isLean, end == nil, state.threads > eager, state.begun > begun {
                state.threads -= 1
                return .proceed(nil)
            }
            if let work = state.tasks.popFirst().map(Work.task) ?? state.jobs.popFirst().map(Work.job) {
                if end != nil { state.idle -= 1 }
                state.begun += 1
                begun = state.begun
                return .proceed(work)
            }
            let now = SystemTime.monotonic()
            if end == nil { state.idle += 1 }
            let limit = end ?? now + Self.idleTime
            end = limit
            guard now >= limit else { return .wait(until: limit) }
            state.idle -= 1
            state.threads -= 1
            return .proceed(nil)
        }
    }

    /// While jobs wait: adds threads, twice as many each time, as long as the ones there are take no more jobs.
    ///
    /// - Parameters:
    ///   - begun: How many jobs were begun by now.
    ///   - added: How many threads were just added.
    private func watch(since begun: Int, added: Int) {
        _ = clock.schedule(after: Self.patience) { [self] in
            let next = monitor.withLock { state -> (begun: Int, wanted: Int)? in
                guard state.waiting > 0 else {
                    state.isWatched = false
                    return nil
                }
                // Each thread that was added has taken a job; those before them have not.
                let stands = state.begun <= begun + added
                let more = stands ? max(0, min(max(1, 2 * added), state.waiting, limit - state.threads)) : 0
                state.threads += more
                return (state.begun, more)
            }
            guard let next else { return }
            watch(since: next.begun, added: (0..<next.wanted).count { _ in addThread() })
        }
    }
}

extension WorkerThreads: TaskExecutor {
    /// Takes on a part of a task that prefers these threads.
    package func enqueue(_ job: consuming ExecutorJob) {
        let part = UnownedJob(job)
        submit { $0.tasks.append(part) }
    }
}
