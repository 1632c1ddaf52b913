// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import DequeModule

/// The threads that load plugins and make calls that might block.
///
/// A plugin must not block, but the host does not rely on that: a plugin that blocks must hold up neither the
/// cooperative pool nor another gate. Jobs run on one thread per processor, or on a single thread. The pool adds
/// threads only when none of those has taken a job for a millisecond, because a wake-up across processors costs 20 µs.
///
/// The pool is also a task executor. The host runs the steps between a gate's plugin calls here, ahead of queued jobs,
/// so opening many gates wakes no thread of the cooperative pool.
///
/// Threads start with the first job and exit after a few idle seconds. A job that never returns keeps its thread. When
/// the system cannot create a thread, jobs wait for an existing one, and the clock's thread tries again every
/// millisecond.
package final class WorkerThreads: Sendable {
    /// A unit of work that runs once.
    package typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        /// Parts of tasks. They never block, so they run first.
        var tasks = Deque<UnownedJob>()
        var jobs = Deque<Job>()
        var threads = 0
        var idle = 0
        /// The number of jobs ever begun. It does not grow while every thread is blocked.
        var begun = 0
        var isWatched = false

        /// The number of jobs and task parts without a thread.
        var waiting: Int { tasks.count + jobs.count }
    }

    /// The next piece of work for a thread.
    private enum Work: Sendable {
        case task(UnownedJob)
        case job(Job)
    }

    private let monitor = Monitor(State())
    private let limit: Int
    private let eager: Int
    private let isLean: Bool
    /// Measures how long jobs have waited.
    private let clock: SystemHostClock
    private let makeThread: HostThread.Make

    /// The wait after which the pool adds threads, in nanoseconds.
    private static let patience: UInt64 = 1_000_000
    /// The idle time after which a thread exits, in nanoseconds.
    private static let idleTime: UInt64 = 5_000_000_000

    /// Creates the pool without starting a thread.
    ///
    /// - Parameters:
    ///   - limit: The most threads at once; jobs wait beyond that.
    ///   - isLean: Whether the pool uses one thread and adds more only while a job blocks it.
    ///   - clock: The clock whose thread watches waiting jobs.
    ///   - makeThread: Starts a thread; tests make it fail.
    package init(
        limit: Int = 512,
        isLean: Bool = false,
        clock: SystemHostClock = SystemHostClock(),
        makeThread: @escaping HostThread.Make = { HostThread.start($0, $1) }
    ) {
        self.limit = limit
        self.isLean = isLean
        self.clock = clock
        self.makeThread = makeThread
        self.eager = isLean ? 1 : max(1, min(limit, HostThread.processorCount))
    }

    /// Queues a job. Jobs begin in the order in which they were queued.
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

    /// Ensures that jobs run even if the system cannot create a thread for them at first: the clock's thread tries
    /// again.
    ///
    /// - Returns: False if the system cannot create the clock's thread either.
    package func prepare() -> Bool { clock.prepare() }

    /// Runs `body` on one of the threads and awaits its result.
    package func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        let result = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// The number of live threads.
    package var threadCount: Int { monitor.withLock(\.threads) }

    /// Starts a thread that is already counted.
    ///
    /// - Returns: False if the system cannot create it.
    @discardableResult
    private func addThread() -> Bool {
        let isStarted = makeThread("connector-work") {
            HostThread.run {
                self.work()
            } finally: { hasReturned in
                if !hasReturned { self.lostThread() }
            }
        }
        if !isStarted { lostThread() }
        return isStarted
    }

    /// Uncounts a thread that could not start, or that a job has ended, and watches the waiting jobs.
    private func lostThread() {
        let begun = monitor.withLock { state -> Int? in
            state.threads -= 1
            guard state.waiting > 0, !state.isWatched else { return nil }
            state.isWatched = true
            return state.begun
        }
        if let begun { watch(since: begun, added: 0) }
    }

    /// A thread's main loop: takes work until it has been idle too long.
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

    /// Waits for the next piece of work; nil tells the thread to exit.
    ///
    /// - Parameter begun: The sequence number of the work that this thread did last; updated to that of the returned
    ///   work.
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

    /// Adds threads while jobs wait, doubling each time as long as the existing threads take no more jobs.
    ///
    /// - Parameters:
    ///   - begun: The number of jobs begun so far.
    ///   - added: The number of threads just added.
    private func watch(since begun: Int, added: Int) {
        _ = clock.schedule(after: Self.patience) { [self] in
            let next = monitor.withLock { state -> (begun: Int, wanted: Int)? in
                guard state.waiting > 0 else {
                    state.isWatched = false
                    return nil
                }
                // Every added thread has taken a job; the older threads have not.
                let isStalled = state.begun <= begun + added
                let more = isStalled ? max(0, min(max(1, 2 * added), state.waiting, limit - state.threads)) : 0
                state.threads += more
                return (state.begun, more)
            }
            guard let next else { return }
            watch(since: next.begun, added: (0..<next.wanted).count { _ in addThread() })
        }
    }
}

extension WorkerThreads: TaskExecutor {
    /// Queues a part of a task that prefers these threads.
    package func enqueue(_ job: consuming ExecutorJob) {
        let part = UnownedJob(job)
        submit { $0.tasks.append(part) }
    }
}
