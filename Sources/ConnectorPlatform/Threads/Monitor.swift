// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
    // Whole-module builds compile all files together, and take `timespec` from whichever of the two modules comes
    // first.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// State behind a lock, with a way to block until another thread changes it.
///
/// For the host's own threads only: it blocks the thread, and a task must never block. `Synchronization.Mutex` has no
/// condition variable, so this is a pthread mutex with one on the monotonic clock.
///
/// Sendable: the three pointers never change and point to memory that this object owns. `state` is accessed only under
/// `mutex`. Values that leave it are Sendable themselves.
@safe package final class Monitor<State: Sendable>: Sendable {
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>
    private nonisolated(unsafe) let state: UnsafeMutablePointer<State>

    /// What a waiting thread does next.
    package enum Step<Result: Sendable> {
        /// Sleep until the state changes, or until a time on the monotonic clock.
        case wait(until: UInt64?)
        /// Stop waiting and return a result.
        case proceed(Result)
    }

    /// Creates an unlocked monitor.
    package init(_ initial: State) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: initial)
        unsafe pthread_mutex_init(mutex, nil)
        #if canImport(Glibc)
            var attributes = pthread_condattr_t()
            unsafe pthread_condattr_init(&attributes)
            unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            unsafe pthread_cond_init(condition, &attributes)
            unsafe pthread_condattr_destroy(&attributes)
        #else
            unsafe pthread_cond_init(condition, nil)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads or changes the state. Keep the body short, and take no other lock in it.
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&state.pointee)
    }

    /// Wakes one waiting thread.
    package func signal() {
        unsafe pthread_cond_signal(condition)
    }

    /// Blocks the calling thread until `step` proceeds. `step` runs under the lock, at once and after every wake-up.
    package func wait<Result>(_ step: (inout State) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch unsafe step(&state.pointee) {
            case .proceed(let result): return result
            case .wait(until: nil): unsafe pthread_cond_wait(condition, mutex)
            case .wait(until: let time?): sleep(until: time)
            }
        }
    }

    private func sleep(until time: UInt64) {
        #if canImport(Glibc)
            var moment = timespec(
                tv_sec: Int(clamping: time / 1_000_000_000),
                tv_nsec: Int(time % 1_000_000_000)
            )
            _ = unsafe pthread_cond_timedwait(condition, mutex, &moment)
        #else
            let now = SystemTime.monotonic()
            guard time > now else { return }
            var span = timespec(
                tv_sec: Int(clamping: (time - now) / 1_000_000_000),
                tv_nsec: Int((time - now) % 1_000_000_000)
            )
            _ = unsafe pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #endif
    }
}
