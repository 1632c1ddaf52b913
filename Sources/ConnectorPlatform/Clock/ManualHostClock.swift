// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import Synchronization

/// A clock that moves only when a test moves it, for tests of anything with a deadline or a delay.
///
/// Moving the clock fires the timers that become due, in order, on the calling thread.
public final class ManualHostClock: HostClock {
    /// The time, and the timers and tests that wait for it.
    private struct State {
        /// The monotonic time.
        var now: UInt64
        /// The time of day at monotonic 0.
        var epoch: UInt64
        /// The timers.
        var queue = TimerQueue()
        /// The tests that wait for timers.
        var watchers: [(timers: Awaited, arrival: OneShot<Void>)] = []

        /// Removes and returns the watchers whose timers are waiting now.
        mutating func takeReady() -> [OneShot<Void>] {
            let ready = watchers.filter { has($0.timers) }
            if !ready.isEmpty { watchers = watchers.filter { !has($0.timers) } }
            return ready.map(\.arrival)
        }

        func has(_ timers: Awaited) -> Bool {
            switch timers {
            case .count(let count): queue.count >= count
            case .due(let count, let deadline): queue.count(at: deadline) >= count
            }
        }
    }

    /// The timers that a test waits for.
    private enum Awaited {
        /// At least this many timers.
        case count(Int)
        /// At least this many timers that are due at exactly this time.
        case due(count: Int, deadline: UInt64)
    }

    private let state: Mutex<State>

    /// Creates a clock that shows the given moment.
    ///
    /// - Parameters:
    ///   - now: The initial monotonic time.
    ///   - wallTime: The time of day at that moment; by default, the start of 2026.
    public init(
        now: Duration = .seconds(1),
        wallTime: Timestamp = Timestamp(nanoseconds: 1_767_225_600_000_000_000)
    ) {
        let (now, time) = (now.nanoseconds, wallTime.nanoseconds)
        state = Mutex(State(now: now, epoch: time >= now ? time - now : 0))
    }

    /// The clock's current monotonic time.
    public func now() -> UInt64 { state.withLock { $0.now } }

    /// The clock's current time of day.
    public func wallTime() -> Timestamp {
        Timestamp(nanoseconds: state.withLock { $0.epoch.saturatingAdding($0.now) })
    }

    /// Adds a timer that fires when the clock is moved to its deadline, even if the delay is 0.
    public func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        add(fire) { now in (now.saturatingAdding(delay), false) }
    }

    /// Adds a timer that fires when the clock is moved to its deadline; immediately, on the calling thread, if the
    /// clock has already reached it.
    public func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        add(fire) { now in (deadline, deadline <= now) }
    }

    private func add(
        _ fire: @escaping @Sendable () -> Void,
        _ deadline: (_ now: UInt64) -> (time: UInt64, isReached: Bool)
    ) -> HostTimer {
        let (timer, overdue, ready) = state.withLock { state in
            let deadline = deadline(state.now)
            let (timer, _) = state.queue.insert(at: deadline.time, fire)
            let overdue = deadline.isReached ? state.queue.remove(timer) : nil
            return (timer, overdue, state.takeReady())
        }
        overdue?()
        for arrival in ready { arrival.send() }
        return timer
    }

    /// Removes a timer.
    @discardableResult
    public func cancel(_ timer: HostTimer) -> Bool {
        let action = state.withLock { $0.queue.remove(timer) }
        return action != nil
    }

    /// Moves the clock forward, stopping at the moment of each timer that fires on the way.
    public func advance(by duration: Duration) {
        let end = now().saturatingAdding(duration.nanoseconds)
        while let action = nextAction(until: end) { action() }
    }

    /// Sets the time of day, as an operator or a time server does; timers are unaffected.
    public func setWallTime(_ time: Timestamp) {
        state.withLock { $0.epoch = time.nanoseconds - min(time.nanoseconds, $0.now) }
    }

    /// The number of waiting timers.
    public var timerCount: Int { state.withLock { $0.queue.count } }

    /// Advances the clock whenever a timer is waiting, until a function returns: for work that waits an unknown number
    /// of times.
    ///
    /// - Parameters:
    ///   - step: How far the clock moves each time.
    ///   - body: The work, which runs concurrently.
    public func advance(by step: Duration, until body: @escaping @Sendable () async -> Void) async {
        // Set once the body has returned: a timer that ends the loop's last wait.
        let end = OneShot<HostTimer>()
        await withTaskGroup { group in
            group.addTask {
                await body()
                end.send(self.schedule(after: .max) {})
            }
            while true {
                // Cancellation reaches the body, whose end is a timer too.
                await arrival { _ in .count(1) }.wait()
                guard end.value == nil else { break }
                advance(by: step)
                await Task.yield()
            }
        }
        if let timer = end.value { cancel(timer) }
    }

    /// Returns once at least `count` timers are waiting, so that a test moves the clock only after the code under test
    /// is asleep. Cancelling the task ends the wait.
    public func timers(atLeast count: Int) async {
        await wait { _ in .count(count) }
    }

    /// Waits until a timer is due exactly `duration` from now, or until the task is cancelled.
    ///
    /// Ignores other timers, such as those of the host's housekeeping.
    public func timer(dueAfter duration: Duration) async {
        await timers(atLeast: 1, dueAfter: duration)
    }

    /// Waits until at least `count` timers are due exactly `duration` from now, or until the task is cancelled.
    package func timers(atLeast count: Int, dueAfter duration: Duration) async {
        await wait { now in .due(count: count, deadline: now.saturatingAdding(duration.nanoseconds)) }
    }

    /// Waits until a timer is due exactly `duration` from now, and moves the clock there. If the task is cancelled first, the
    /// clock stands still.
    public func advance(toTimerAfter duration: Duration) async {
        let isDue = await wait { now in .due(count: 1, deadline: now.saturatingAdding(duration.nanoseconds)) }
        if isDue { advance(by: duration) }
    }

    /// Whether a timer is due exactly `duration` from now.
    public func hasTimer(dueAfter duration: Duration) -> Bool {
        state.withLock { $0.queue.count(at: $0.now.saturatingAdding(duration.nanoseconds)) > 0 }
    }

    /// Waits until timers are waiting, or until the task is cancelled.
    ///
    /// - Returns: Whether they are.
    @discardableResult
    private func wait(for timers: (_ now: UInt64) -> Awaited) async -> Bool {
        let arrival = arrival(of: timers)
        if await arrival.waitUnlessCancelled() != nil { return true }
        state.withLock { $0.watchers.removeAll { $0.arrival === arrival } }
        return false
    }

    /// Sent once timers are waiting.
    private func arrival(of timers: (_ now: UInt64) -> Awaited) -> OneShot<Void> {
        let arrival = OneShot<Void>()
        let isReady = state.withLock { state in
            let timers = timers(state.now)
            if state.has(timers) { return true }
            state.watchers.append((timers, arrival))
            return false
        }
        if isReady { arrival.send() }
        return arrival
    }

    private func nextAction(until end: UInt64) -> TimerQueue.Action? {
        state.withLock { state in
            guard let due = state.queue.popDue(at: end) else {
                state.now = max(state.now, end)
                return nil
            }
            state.now = max(state.now, due.deadline)
            return due.action
        }
    }
}
