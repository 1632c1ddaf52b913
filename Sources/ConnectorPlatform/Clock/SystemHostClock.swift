// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// The system's clocks, and one thread that fires timers.
///
/// The thread is started by the first timer and sleeps until the next one is due; a timer costs a heap entry and no
/// system call unless the thread would wake up too late for it. What fires runs on that thread, so it hands longer work on.
public final class SystemHostClock: HostClock {
    /// What the thread and the callers share.
    private struct State: Sendable {
        /// The timers.
        var queue = TimerQueue()
        /// Whether the thread was started.
        var isStarted = false
        /// When the thread looks at the timers again by itself: 0 while it is awake, the end of time if it sleeps until it is woken.
        var nextLook: UInt64 = 0
        /// Whether the clock is gone, so that the thread ends.
        var isStopped = false
    }

    private let monitor = Monitor(State())

    /// Starts nothing.
    public init() {}

    deinit {
        monitor.withLock { $0.isStopped = true }
        monitor.signal()
    }

    /// The system's monotonic clock.
    public func now() -> UInt64 { SystemTime.monotonic() }

    /// The system's monotonic clock; for delays from 200 ms, when that is exact enough, the time that the system keeps at hand.
    public func deadline(after delay: UInt64) -> UInt64 {
        (delay < 200_000_000 ? SystemTime.monotonic() : SystemTime.monotonicAhead()).saturatingAdding(delay)
    }

    /// The system's time of day.
    public func wallTime() -> Timestamp { Timestamp(nanoseconds: SystemTime.wall()) }

    /// Adds a timer, and starts the thread with the first.
    public func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        let deadline = now().saturatingAdding(delay)
        let (timer, sleepsTooLong, needsThread) = monitor.withLock { state in
            let timer = state.queue.insert(at: deadline, fire).timer
            let needsThread = !state.isStarted
            state.isStarted = true
            return (timer, deadline < state.nextLook, needsThread)
        }
        if needsThread {
            start()
        } else if sleepsTooLong {
            monitor.signal()
        }
        return timer
    }

    /// Takes a timer out.
    @discardableResult
    public func cancel(_ timer: HostTimer) -> Bool {
        // The action is released here, outside of the lock: what it captured may have a deinit.
        let action = monitor.withLock { $0.queue.remove(timer) }
        return action != nil
    }

    /// Starts the thread; if the system has none to give, the next timer tries again.
    private func start() {
        let monitor = monitor
        if !HostThread.start("connector-timer", { Self.serve(monitor) }) {
            monitor.withLock { $0.isStarted = false }
        }
    }

    private static func serve(_ monitor: Monitor<State>) {
        while let action = next(monitor) { action() }
    }

    private static func next(_ monitor: Monitor<State>) -> TimerQueue.Action? {
        monitor.wait { state in
            if state.isStopped { return .proceed(nil) }
            if let due = state.queue.popDue(at: SystemTime.monotonic()) {
                state.nextLook = 0
                return .proceed(due.action)
            }
            let deadline = state.queue.nextDeadline()
            state.nextLook = deadline ?? .max
            return .wait(until: deadline)
        }
    }
}
