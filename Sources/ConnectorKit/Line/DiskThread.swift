// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

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
        // If no thread can be created, the caller runs the job.
        if mustStart, !start() { work() }
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

    /// Starts the thread, which retains this object until it exits; false if the system refuses.
    private func start() -> Bool {
        #if canImport(Glibc)
            var thread: pthread_t = 0
        #else
            var thread: pthread_t?
        #endif
        let argument = unsafe Unmanaged.passRetained(self).toOpaque()
        guard unsafe pthread_create(&thread, nil, Self.entry, argument) == 0 else {
            unsafe Unmanaged<DiskThread>.fromOpaque(argument).release()
            return false
        }
        #if canImport(Glibc)
            pthread_detach(thread)
        #else
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #endif
        return true
    }

    // An inline closure crashes Swift 6.3's region analysis.
    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<DiskThread>.fromOpaque(argument).takeRetainedValue().work()
        return nil
    }
}
