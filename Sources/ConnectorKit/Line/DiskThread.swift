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

/// Runs what waits for a disk on a thread of its own, so that no task holds one of Swift's few threads meanwhile.
///
/// Jobs run one at a time, in the order they were given. The thread starts with the first job and ends with the last one: that
/// takes some 20 µs, beside the milliseconds of a disk, and costs nothing while nobody stores anything.
final class DiskThread: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Runs something on the thread and awaits what it makes.
    func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let result = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    private func run(_ job: @escaping Job) {
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // Without a thread to be had, the caller waits for the disk itself.
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

    /// Starts the thread, which keeps this object until it ends.
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

    // A closure in the call's place crashes Swift 6.3's region analysis.
    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<DiskThread>.fromOpaque(argument).takeRetainedValue().work()
        return nil
    }
}
