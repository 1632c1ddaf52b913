// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The source of every deadline, delay and timestamp of the host and its plugins.
///
/// ``SystemHostClock`` is the system's; ``ManualHostClock`` moves only when a test moves it.
///
/// Monotonic time is a count of nanoseconds, not a `Duration`. Every call that may wait computes a deadline, which
/// crosses the C boundary in nanoseconds, and dividing a `Duration`'s 128 bits of attoseconds takes as long as such a
/// call. Everywhere else, times are `Duration`s and moments are `Timestamp`s.
public protocol HostClock: Sendable {
    /// Nanoseconds since a fixed moment before the host started; never jumps.
    func now() -> UInt64

    /// The deadline of work that starts now, on the time of ``now()``.
    ///
    /// Never early, and late by at most a twentieth of the delay, which lets a clock answer more cheaply than
    /// ``now()``. The default adds the delay to ``now()``.
    func deadline(after delay: UInt64) -> UInt64

    /// The time of day, which may jump.
    func wallTime() -> Timestamp

    /// Calls `fire` once, on the clock's thread, which `fire` must not block.
    ///
    /// - Parameters:
    ///   - delay: Nanoseconds from now. 0 means as soon as possible, but on the system's clock never before this
    ///     returns.
    ///   - fire: Released after it ran or was cancelled.
    /// - Returns: The timer, for ``cancel(_:)``.
    func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer

    /// Calls `fire` once at a deadline on the time of ``now()``, or as soon as possible if it has passed.
    ///
    /// The default schedules it after what is left until then.
    func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer

    /// Makes sure that timers fire. Work that relies on a deadline asks before it begins.
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
    /// The default: timers need nothing.
    public func prepare() -> Bool { true }

    /// The default: ``now()`` plus the delay, exact to the nanosecond.
    public func deadline(after delay: UInt64) -> UInt64 { now().saturatingAdding(delay) }

    /// The default: after what is left until the deadline.
    public func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        let now = now()
        return schedule(after: deadline > now ? deadline - now : 0, fire)
    }
}

/// Identifies a timer to the clock that made it.
public struct HostTimer: Sendable, Hashable {
    /// A number unique within one clock, never 0.
    public var rawValue: UInt64

    /// Names a timer; for implementations of ``HostClock``.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}
