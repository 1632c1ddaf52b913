// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorPlatform
internal import DequeModule
internal import Synchronization

/// The threads on which the calls by name of one instance enter its plugin.
///
/// No caller waits for such a thread longer than until its deadline. A function that is still inside the plugin then has
/// its thread *lost*, until it returns. An instance holds at most ``limit`` threads at once: further calls wait for one,
/// and once all are lost they fail at once. So a plugin that blocks keeps 32 threads of the process, and no more.
package final class CallThreads: Sendable {
    /// The most threads that calls of one instance hold at once.
    package static let limit = 32

    private struct State {
        var held = 0
        /// The functions that outlived their callers' deadlines, one for each lost thread.
        var lost: [String] = []
        var waiting = Deque<WorkerThreads.Job>()
    }

    private let state = Mutex(State())
    private let workers: WorkerThreads

    /// Borrows threads from a pool.
    package init(_ workers: WorkerThreads) {
        self.workers = workers
    }

    /// The functions that outlived their callers' deadlines, one for each lost thread.
    package var lostNames: [String] { state.withLock(\.lost) }

    /// The error of a call that no thread can make; nil as long as one can.
    package var exhaustion: ConnectorError? {
        guard lostNames.count >= Self.limit else { return nil }
        return ConnectorError(
            .unavailable,
            "all \(Self.limit) threads for calls of the plugin are lost in functions that do not return",
            fix: "mend the plugin, and restart the application",
            isRetryable: true
        )
    }

    /// Runs a job on one of the threads, in order of arrival.
    package func run(_ job: @escaping WorkerThreads.Job) {
        let isFree = state.withLock { state in
            guard state.held < Self.limit else {
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

    /// Counts the thread of a function as lost; ``found(_:)`` follows when the function returns.
    package func lose(_ function: String) {
        state.withLock { $0.lost.append(function) }
    }

    /// Counts a lost thread as found.
    package func found(_ function: String) {
        state.withLock { state in
            if let place = state.lost.firstIndex(of: function) { state.lost.remove(at: place) }
        }
    }
}
