// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import DequeModule
internal import Synchronization

/// The threads on which the host enters one plugin instance, for calls by name or to cancel calls.
///
/// No caller waits past its deadline. If the function is still inside the plugin then, its thread is *lost* until the function
/// returns. The number of threads per instance is limited: further calls wait for a free thread, and fail immediately once all
/// are lost. So a plugin that blocks occupies at most 32 threads of the process.
package final class CallThreads: Sendable {
    /// The maximum number of threads per instance.
    package static let limit = 32

    private struct State {
        var held = 0
        /// The running functions, one per thread inside the plugin.
        var inside: [PluginFunction] = []
        var waiting = Deque<WorkerThreads.Job>()

        /// Takes one of the threads, if one is free.
        mutating func takeThread(of limit: Int) -> Bool {
            guard held < limit else { return false }
            held += 1
            return true
        }
    }

    private let state = Mutex(State())
    private let workers: WorkerThreads
    private let limit: Int

    /// Creates a limited share of a thread pool.
    ///
    /// - Parameter limit: The maximum number of threads at once.
    package init(_ workers: WorkerThreads, limit: Int = CallThreads.limit) {
        self.workers = workers
        self.limit = limit
    }

    /// The running functions, one per thread inside the plugin; those on lost threads are overdue.
    package var functionsInside: [PluginFunction] { state.withLock(\.inside) }

    /// The error of a call if all threads are lost; nil otherwise.
    package var exhaustion: ConnectorError? {
        let lost = functionsInside.filter(\.isOverdue)
        guard lost.count >= limit, let function = lost.first else { return nil }
        return Self.exhausted(limit, by: function)
    }

    /// The error of a call if all of so many threads are lost.
    ///
    /// - Parameter function: One of the functions that hold them.
    package static func exhausted(_ limit: Int, by function: PluginFunction) -> ConnectorError {
        ConnectorError(
            .unavailable,
            "all \(limit) threads for calls of the plugin are lost in functions that do not return",
            fix: (function.isForeign ? "call fewer of its functions that block at once" : "fix the plugin")
                + "; until then, close and open the connector, which gives it other threads",
            isRetryable: true
        )
    }

    /// Runs a job on one of the threads, first come, first served.
    package func run(_ job: @escaping WorkerThreads.Job) {
        let isFree = state.withLock { state in
            if state.takeThread(of: limit) { return true }
            state.waiting.append(job)
            return false
        }
        if isFree { start(job) }
    }

    /// Runs a job like ``run(_:)``, and says whether it has to wait for a thread.
    ///
    /// - Parameter waits: Called with true before the wait, and with false on the thread, before the job; never if a thread is free.
    package func run(_ job: @escaping WorkerThreads.Job, waits: @escaping @Sendable (Bool) -> Void) {
        guard !state.withLock({ $0.takeThread(of: limit) }) else { return start(job) }
        waits(true)
        run {
            waits(false)
            job()
        }
    }

    /// Runs a job, and those that wait for its thread, on a thread that is taken for it.
    private func start(_ job: @escaping WorkerThreads.Job) {
        workers.run { [self] in
            HostThread.run {
                var next: WorkerThreads.Job? = job
                while let current = next {
                    current()
                    // The jobs that wait for a thread run on this one.
                    next = nextJob()
                }
            } finally: { [self] hasReturned in
                // A job has ended the thread: the others run on another one.
                if !hasReturned, let job = nextJob() { start(job) }
            }
        }
    }

    /// The next job for a thread that has done one; if there is none, the thread is given back.
    private func nextJob() -> WorkerThreads.Job? {
        state.withLock { state in
            let job = state.waiting.popFirst()
            if job == nil { state.held -= 1 }
            return job
        }
    }

    /// Records that a function is about to run. ``left(_:)`` must follow when it returns.
    package func entered(_ function: PluginFunction) {
        state.withLock { $0.inside.append(function) }
    }

    /// Marks the thread of a running function as lost until the function returns.
    package func lost(_ function: PluginFunction) {
        state.withLock { state in
            if let index = state.inside.firstIndex(of: function) { state.inside[index].isOverdue = true }
        }
    }

    /// Records that a function has returned.
    package func left(_ function: PluginFunction) {
        state.withLock { state in
            if let index = state.inside.firstIndex(of: function) { state.inside.remove(at: index) }
        }
    }
}
