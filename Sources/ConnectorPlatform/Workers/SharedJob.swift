// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// A job that blocks, and whose result many callers want: it runs on one thread at a time, however many they are.
///
/// A caller gets the result of a run that began after it asked. All that ask during a run share the next one.
package final class SharedJob<Value: Sendable>: Sendable {
    private struct State {
        var isRunning = false
        /// The result of the run that has not begun yet; nil if nothing waits for one.
        var next: OneShot<Value>?
    }

    private let threads: WorkerThreads
    private let body: @Sendable () -> Value
    private let state = Mutex(State())

    /// Creates a job that runs on `threads`, each time that its result is wanted.
    package init(on threads: WorkerThreads, _ body: @escaping @Sendable () -> Value) {
        (self.threads, self.body) = (threads, body)
    }

    /// Runs the job, or shares its next run, and awaits the result.
    package func result() async -> Value {
        let (result, begins) = state.withLock { state in
            let result = state.next ?? OneShot()
            defer { (state.next, state.isRunning) = (result, true) }
            return (result, !state.isRunning)
        }
        if begins { threads.run { self.run() } }
        return await result.wait()
    }

    private func run() {
        while let result = beginRun() { result.send(body()) }
    }

    /// Begins a run if there is a waiter for one.
    ///
    /// - Returns: Where its result goes; nil if there is no waiter.
    private func beginRun() -> OneShot<Value>? {
        state.withLock { state in
            defer { state.next = nil }
            state.isRunning = state.next != nil
            return state.next
        }
    }
}
