// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The system's clocks, with one thread that fires timers.
///
/// The first timer starts the thread, which sleeps until the next one is due. A timer costs a heap entry, and a system
/// call only if the thread would wake too late for it. Actions run on that thread and hand long work to others.
///
/// If the system cannot create the thread, ``prepare()`` returns false. Every further timer tries again, and once that
/// succeeds, the timers scheduled meanwhile fire. The thread exits when the clock is released.
public final class SystemHostClock: HostClock {
    /// The state that callers share with the thread.
    private struct State: Sendable {
        /// The timers.
        var queue = TimerQueue()
        /// Whether the thread has started.
        var isStarted = false
        /// When the thread will wake unprompted: 0 while it is awake, `UInt64.max` if it sleeps until signaled.
        var nextLook: UInt64 = 0
        /// Whether the clock is gone and the thread must exit.
        var isStopped = false
    }

    private let monitor = Monitor(State())
    private let makeThread: HostThread.Make

    /// Creates the clock without starting its thread.
    public convenience init() {
        self.init { HostThread.start($0, $1) }
    }

    /// Creates the clock without starting its thread.
    ///
    /// - Parameter makeThread: Starts a thread; tests make it fail.
    package init(makeThread: @escaping HostThread.Make) {
        self.makeThread = makeThread
    }

    deinit {
        monitor.withLock { $0.isStopped = true }
        monitor.signal()
    }

    /// The system's monotonic clock.
    public func now() -> UInt64 { SystemTime.monotonic() }

    /// The system's time of day.
    public func wallTime() -> Timestamp { .now }

    /// Adds a timer, and starts the thread with the first.
    public func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        schedule(at: now().saturatingAdding(delay), fire)
    }

    /// Adds a timer, and starts the thread with the first. Timers whose deadlines have passed fire in the order of these.
    public func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
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

    /// Removes a timer.
    @discardableResult
    public func cancel(_ timer: HostTimer) -> Bool {
        // Release the action outside the lock: a value that it captured may have a deinit.
        let action = monitor.withLock { $0.queue.remove(timer) }
        return action != nil
    }

    /// Starts the thread, unless it runs.
    ///
    /// - Returns: False if the system cannot create it.
    public func prepare() -> Bool {
        let needsThread = monitor.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        return needsThread ? start() : true
    }

    /// Starts the thread, which is already marked as started.
    @discardableResult
    private func start() -> Bool {
        let monitor = monitor
        if makeThread("connector-timer", { Self.serve(monitor) }) { return true }
        monitor.withLock { $0.isStarted = false }
        return false
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
