// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// Runs blocking disk work on a separate thread, so that it never blocks the cooperative pool.
///
/// Jobs run one at a time, in order. The thread starts with the first job and exits after the last: a start costs about
/// 20 µs and disk work takes milliseconds, so an idle plugin needs no thread.
package final class DiskThread: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Starts no thread yet.
    package init() {}

    /// Runs a closure on the thread and awaits its result.
    package func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let result = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// Runs a closure on the thread for a call, unless the call has ended before its turn, and awaits its result.
    ///
    /// Cancelling the task cancels the call.
    package func result<Value: Sendable>(
        for call: DiskCall,
        _ body: @escaping @Sendable () throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let outcome = await withTaskCancellationHandler { () -> Result<Value, PluginError> in
            do throws(PluginError) {
                return .success(
                    try await result { () throws(PluginError) in
                        if let end = call.end { throw end }
                        return try body()
                    }
                )
            } catch {
                return .failure(error)
            }
        } onCancel: {
            call.cancel()
        }
        return try outcome.get()
    }

    private func run(_ job: @escaping Job) {
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // The thread retains this object until it exits. If none can be created, the caller runs the job.
        if mustStart, !SystemThread.start({ self.work() }) { work() }
    }

    private func work() {
        while let job = nextJob() { job() }
    }

    private func nextJob() -> Job? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.jobs.removeFirst()
        }
    }
}
