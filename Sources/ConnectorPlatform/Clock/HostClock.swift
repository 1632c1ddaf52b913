// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The source of every deadline, delay and timestamp of the host and its plugins.
///
/// ``SystemHostClock`` is the system's; ``ManualHostClock`` moves only when a test moves it.
///
/// Monotonic time is a count of nanoseconds, not a `Duration`. Every call that may wait computes a deadline, which
/// crosses the C ABI in nanoseconds, and dividing a `Duration`'s 128 bits of attoseconds costs as much as such a call.
/// Everywhere else, times are `Duration`s and moments are `Timestamp`s.
public protocol HostClock: Sendable {
    /// Nanoseconds since a fixed moment before the host started; never jumps.
    func now() -> UInt64

    /// The deadline of work that starts now, in nanoseconds of ``now()``.
    ///
    /// Never early, and late by at most a twentieth of the delay, so that a clock may compute it more cheaply than
    /// ``now()``. The default adds the delay to ``now()``.
    func deadline(after delay: UInt64) -> UInt64

    /// The time of day, which may jump.
    func wallTime() -> Timestamp

    /// Calls `fire` once, on the clock's thread, which `fire` must not block.
    ///
    /// - Parameters:
    ///   - delay: Nanoseconds from now. 0 means as soon as possible, but on the system's clock never before this
    ///     returns.
    ///   - fire: The action; released after it ran or was cancelled.
    /// - Returns: The timer, for ``cancel(_:)``.
    func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer

    /// Calls `fire` once at a deadline in nanoseconds of ``now()``, or as soon as possible if it has passed.
    ///
    /// The default computes the remaining delay and calls ``schedule(after:_:)``, so timers that are late already fire in the order
    /// in which they were scheduled; ``SystemHostClock`` keeps the order of their deadlines.
    func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer

    /// Ensures that timers can fire. Call it before work that relies on a deadline.
    ///
    /// The default returns true.
    ///
    /// - Returns: False if the system cannot create the thread that timers need; a later call tries again.
    func prepare() -> Bool

    /// Prevents a timer from firing.
    ///
    /// - Returns: True if the timer will now never fire; false if it has fired, is firing, or was already cancelled.
    @discardableResult
    func cancel(_ timer: HostTimer) -> Bool
}

extension HostClock {
    /// The default: timers need no preparation.
    public func prepare() -> Bool { true }

    /// The default: ``now()`` plus the delay, exact to the nanosecond.
    public func deadline(after delay: UInt64) -> UInt64 { now().saturatingAdding(delay) }

    /// The default: schedules after the time remaining until the deadline.
    public func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        let now = now()
        return schedule(after: deadline > now ? deadline - now : 0, fire)
    }
}

/// Identifies a timer to the clock that created it.
public struct HostTimer: Sendable, Hashable {
    /// A number unique within one clock, never 0.
    public var rawValue: UInt64

    /// Creates an identifier; for implementations of ``HostClock``.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}
