// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import DequeModule
internal import Synchronization

/// The threads on which the host enters the plugin of one instance: for calls by name, or to cancel calls.
///
/// No caller waits for such a thread longer than until its deadline. A function that is still inside the plugin then has
/// its thread *lost*, until it returns. An instance holds at most so many threads at once: further calls wait for one, and
/// once all are lost they fail at once. So a plugin that blocks keeps 32 threads of the process, and no more.
package final class CallThreads: Sendable {
    /// The most threads that calls of one instance hold at once.
    package static let limit = 32

    private struct State {
        var held = 0
        /// The functions that run, one for each thread that is inside the plugin.
        var inside: [PluginFunction] = []
        var waiting = Deque<WorkerThreads.Job>()
    }

    private let state = Mutex(State())
    private let workers: WorkerThreads
    private let limit: Int

    /// Borrows threads from a pool.
    ///
    /// - Parameter limit: The most threads at once.
    package init(_ workers: WorkerThreads, limit: Int = CallThreads.limit) {
        self.workers = workers
        self.limit = limit
    }

    /// The functions that run, one for each thread that is inside the plugin; overdue on a lost thread.
    package var functionsInside: [PluginFunction] { state.withLock(\.inside) }

    /// The error of a call that no thread can make; nil as long as one can.
    package var exhaustion: ConnectorError? {
        guard functionsInside.count(where: \.isOverdue) >= limit else { return nil }
        return ConnectorError(
            .unavailable,
            "all \(limit) threads for calls of the plugin are lost in functions that do not return",
            fix: "fix the plugin, and restart the application",
            isRetryable: true
        )
    }

    /// Runs a job on one of the threads, in order of arrival.
    package func run(_ job: @escaping WorkerThreads.Job) {
        let isFree = state.withLock { state in
            guard state.held < limit else {
                state.waiting.append(job)
                return false
            }
            state.held += 1
            return true
        }
        if isFree { workers.run { self.work(job) } }
    }

    /// Runs a job and those that wait for its thread.
    private func work(_ first: @escaping WorkerThreads.Job) {
        var next: WorkerThreads.Job? = first
        while let job = next {
            job()
            next = state.withLock { state in
                let job = state.waiting.popFirst()
                if job == nil { state.held -= 1 }
                return job
            }
        }
    }

    /// Records that a function begins to run; ``left(_:)`` follows when it returns.
    package func entered(_ function: PluginFunction) {
        state.withLock { $0.inside.append(function) }
    }

    /// Counts the thread of a function that runs as lost until it returns.
    package func lost(_ function: PluginFunction) {
        state.withLock { state in
            if let place = state.inside.firstIndex(of: function) { state.inside[place].isOverdue = true }
        }
    }

    /// Records that a function has returned.
    package func left(_ function: PluginFunction) {
        state.withLock { state in
            if let place = state.inside.firstIndex(of: function) { state.inside.remove(at: place) }
        }
    }
}
