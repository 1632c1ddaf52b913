// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// The time as the host and its plugins see it: every deadline, delay and timestamp comes from here.
///
/// ``SystemHostClock`` is the system's; ``ManualHostClock`` moves only when a test moves it.
///
/// Monotonic time is counted in whole nanoseconds, not in `Duration`s: every call that may wait asks for its deadline, which crosses the
/// C line in nanoseconds, and to divide the 128 bits of attoseconds of a `Duration` takes as long as such a call. Everywhere
/// else times are `Duration`s, and moments a `Timestamp`.
public protocol HostClock: Sendable {
    /// Nanoseconds since a fixed moment before the host started; never jumps.
    func now() -> UInt64

    /// The moment when something that starts now has taken too long, on the time of ``now()``.
    ///
    /// Never earlier than that, and late by at most a twentieth of the delay: so it may cost less than ``now()``, which it is made
    /// from unless a clock does better.
    func deadline(after delay: UInt64) -> UInt64

    /// The time of day, which may jump.
    func wallTime() -> Timestamp

    /// Calls `fire` once, on a thread of the clock, which it must not block.
    ///
    /// - Parameters:
    ///   - delay: Nanoseconds from now; 0 is as soon as possible, never before this returns on the system's clock.
    ///   - fire: Released after it ran, and when it is cancelled.
    /// - Returns: What ``cancel(_:)`` takes.
    func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer

    /// Prevents a timer from firing.
    ///
    /// - Returns: Whether it has not fired and never will; false if it has, is firing, or was cancelled before.
    @discardableResult
    func cancel(_ timer: HostTimer) -> Bool
}

extension HostClock {
    /// The delay from now, to the nanosecond.
    public func deadline(after delay: UInt64) -> UInt64 { now().saturatingAdding(delay) }

    /// Calls `fire` once at a moment of ``now()``, or as soon as possible if that has passed.
    package func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        let now = now()
        return schedule(after: deadline > now ? deadline - now : 0, fire)
    }
}

/// Names a timer towards the clock that it belongs to.
public struct HostTimer: Sendable, Hashable {
    /// Unique for one clock, never 0.
    public var rawValue: UInt64

    /// For implementations of ``HostClock``.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}
