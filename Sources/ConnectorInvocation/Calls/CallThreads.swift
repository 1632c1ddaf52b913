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
        guard functionsInside.count(where: \.isOverdue) >= limit else { return nil }
        return ConnectorError(
            .unavailable,
            "all \(limit) threads for calls of the plugin are lost in functions that do not return",
            fix: "fix the plugin, and restart the application",
            isRetryable: true
        )
    }

    /// Runs a job on one of the threads, first come, first served.
    package func run(_ job: @escaping WorkerThreads.Job) {
        let isFree = state.withLock { state in
            guard state.held < limit else {
                state.waiting.append(job)
                return false
            }
            state.held += 1
            return true
        }
        guard isFree else { return }
        workers.run { [self] in
            var next: WorkerThreads.Job? = job
            while let current = next {
                current()
                // The jobs that wait for a thread run on this one.
                next = state.withLock { state in
                    let job = state.waiting.popFirst()
                    if job == nil { state.held -= 1 }
                    return job
                }
            }
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
