// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// The deadline of one call, which applies to everything that the call awaits, and what to undo if the call misses it.
///
/// A task that a call starts and leaves behind has no deadline once the call has ended; a detached task never has one.
package final class Deadline: Sendable {
    @TaskLocal private static var ofCall: Deadline?

    /// The end of what the call awaits, in nanoseconds; `UInt64.max` once the call has ended.
    private let end: Atomic<UInt64>
    private let isOver = Atomic(false)
    /// The middle of the time that was left when ``isHalfOver`` was first asked in a series of requests, in nanoseconds; 0 until then.
    private let middle = Atomic<UInt64>(0)
    /// Whether ``end`` leaves time to answer.
    private let leavesTime = Atomic(false)
    private let clock: any ClockService
    /// Undoes the call if its answer reaches nobody; nil if there is nothing to undo.
    private let undoing = Mutex<(@Sendable () async -> Void)?>(nil)

    /// Creates the deadline of a call.
    ///
    /// - Parameter end: In nanoseconds on the clock; `UInt64.max` for none.
    package init(_ end: UInt64, on clock: any ClockService = SystemClock()) {
        self.end = Atomic(end)
        self.clock = clock
    }

    /// The deadline of the call that the current task serves, on the monotonic clock of `clock/1`; `UInt64.max` if there is none.
    package static var current: UInt64 { ofCall?.end.load(ordering: .relaxed) ?? .max }

    /// Whether the call that started the current task has ended and left the task behind.
    static var isOver: Bool { ofCall?.isOver.load(ordering: .relaxed) ?? false }

    /// The time that the call has left; nil if it has no deadline.
    static var remaining: Duration? {
        guard let call = ofCall else { return nil }
        let (end, now) = (call.end.load(ordering: .relaxed), call.clock.monotonic)
        return end < .max ? Duration.nanoseconds(Int64(clamping: now < end ? end - now : 0)) : nil
    }

    /// Whether half of the time is over that the call had left when it first asked, or first in the series that ``beginRequests()`` has
    /// begun; false if it has no deadline.
    ///
    /// A call that sends several requests starts none in the second half: the last one may then take as long as all before it.
    package static var isHalfOver: Bool {
        guard let call = ofCall else { return false }
        let end = call.end.load(ordering: .relaxed)
        guard end < .max else { return false }
        let now = call.clock.monotonic
        // A first request always starts.
        let middle = now < end ? now + (end - now) / 2 : .max
        let (isFirst, known) = call.middle.compareExchange(expected: 0, desired: middle, ordering: .relaxed)
        return now >= (isFirst ? middle : known)
    }

    /// Begins a series of requests, with a half of its own of the time that the series before has left.
    ///
    /// The first series ends the requests of the call a little before the call itself, so that a request that is not answered leaves time
    /// to answer for the others: by a twentieth of the time that is left, at least half a second, at most half of that time.
    static func beginRequests() {
        guard let call = ofCall else { return }
        call.middle.store(0, ordering: .relaxed)
        // The first middle is that of the whole time.
        guard !isHalfOver, !call.leavesTime.exchange(true, ordering: .relaxed) else { return }
        let (end, now) = (call.end.load(ordering: .relaxed), call.clock.monotonic)
        guard end < .max, now < end else { return }
        let left = end - now
        let earlier = end - min(max(left / 20, 500_000_000), left / 2)
        // The call may have ended meanwhile.
        _ = call.end.compareExchange(expected: end, desired: earlier, ordering: .relaxed)
    }

    /// The earlier of ``current`` and the end of a timeout that begins now.
    static func after(_ timeout: Duration?, on clock: any ClockService) -> UInt64 {
        guard let timeout else { return current }
        return min(clock.monotonic.saturatingAdding(timeout.nanoseconds), current)
    }

    /// Makes a call with a deadline on the host's clock.
    package static func apply<Value>(
        _ end: UInt64,
        on clock: any ClockService = SystemClock(),
        to call: () async throws -> Value
    ) async rethrows -> Value {
        try await Deadline(end, on: clock).apply(to: call)
    }

    /// Makes the call that has the deadline.
    package func apply<Value>(to call: () async throws -> Value) async rethrows -> Value {
        defer {
            end.store(.max, ordering: .relaxed)
            isOver.store(true, ordering: .relaxed)
        }
        return try await Self.$ofCall.withValue(self, operation: call)
    }

    // MARK: Answers that reach nobody

    /// Undoes what the current call has done if its answer reaches nobody, because the caller has cancelled the call or its time is over.
    ///
    /// For an answer that is the only key to something: without it, nobody could end what the call has begun. Outside a call of the host,
    /// and for a second closure in one call, this does nothing.
    ///
    /// - Parameter undo: Runs in a task of its own, once the call has ended.
    package static func ifUnclaimed(_ undo: @escaping @Sendable () async -> Void) {
        ofCall?.undoing.withLock { known in
            if known == nil { known = undo }
        }
    }

    /// Undoes the call, whose answer has reached nobody.
    ///
    /// - Returns: The task that does so; nil if there is nothing to undo.
    @discardableResult
    package func undo() -> Task<Void, Never>? {
        guard let undo = undoing.withLock({ $0.take() }) else { return nil }
        // A detached task, because this one may have been cancelled, and the call's deadline may have passed.
        return Task.detached { await undo() }
    }
}
