// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Threads on which the host loads plugins and calls them where they might block.
///
/// A plugin must not block, but the host must not depend on that: neither the cooperative pool nor another gate may wait
/// for one that does. So jobs run on as many threads as there are processors, and more are added only when none of those
/// took a job for a millisecond: threads that only wait for the dynamic linker's lock would slow each other down, and a
/// wake-up across processors costs 20 µs.
///
/// Threads start with the first job and end after a few idle seconds. A job that never returns keeps its thread.
final class WorkerThreads: Sendable {
    /// Something to do, once.
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        var jobs = CircularBuffer<Job>()
        var threads = 0
        var idle = 0
        /// How many jobs were ever begun: it stands still while all threads are held.
        var begun = 0
        var isWatched = false
    }

    private let monitor = Monitor(State())
    private let limit: Int
    private let coreCount: Int

    /// How long jobs may wait before threads are added, in microseconds.
    private static let patience: UInt32 = 1000
    /// How long a thread waits for a job before it ends, in nanoseconds.
    private static let idleTime: UInt64 = 5_000_000_000

    /// Starts nothing.
    ///
    /// - Parameter limit: The most threads at once; jobs wait beyond that.
    init(limit: Int = 512) {
        self.limit = limit
        self.coreCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// Runs a job on one of the threads, soon. Jobs begin in the order they were given.
    func run(_ job: @escaping Job) {
        enum Next { case wake, addThread, watch, nothing }
        let next = monitor.withLock { state -> Next in
            state.jobs.append(job)
            if state.idle >= state.jobs.count { return .wake }
            if state.threads < min(coreCount, limit) {
                state.threads += 1
                return .addThread
            }
            guard !state.isWatched else { return .nothing }
            state.isWatched = true
            return .watch
        }
        switch next {
        case .wake: monitor.signal()
        case .addThread: addThread()
        case .watch:
            if !HostThread.start("connector-watch", { self.watch() }) { monitor.withLock { $0.isWatched = false } }
        case .nothing: break
        }
    }

    /// Runs something on one of the threads and waits for what it makes.
    func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        let result = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// Starts a thread that is counted already; without any to be had, the caller works in its place.
    private func addThread() {
        guard !HostThread.start("connector-work", { self.work() }) else { return }
        let isAlone = monitor.withLock { state in
            if state.threads > 1 { state.threads -= 1 }
            return state.threads == 1 && state.idle == 0
        }
        if isAlone { work() }
    }

    /// Takes jobs until there has been none for a while.
    private func work() {
        while let job = nextJob() { job() }
    }

    private func nextJob() -> Job? {
        var end: UInt64?
        return monitor.wait { state in
            if let job = state.jobs.popFirst() {
                if end != nil { state.idle -= 1 }
                state.begun += 1
                return .proceed(job)
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

    /// While jobs wait: adds threads whenever none was begun since the last look.
    private func watch() {
        var begun = monitor.withLock(\.begun)
        while true {
            usleep(Self.patience)
            let (isDone, count) = monitor.withLock { state -> (Bool, Int) in
                guard !state.jobs.isEmpty else {
                    state.isWatched = false
                    return (true, 0)
                }
                let stands = state.begun == begun
                begun = state.begun
                let count = stands ? max(0, min(state.jobs.count, limit - state.threads)) : 0
                state.threads += count
                return (false, count)
            }
            if isDone { return }
            for _ in 0..<count { addThread() }
        }
    }
}
