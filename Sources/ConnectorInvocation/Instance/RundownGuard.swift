// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// Directs a gate's calls to its current instance, and detects when the last call has left an earlier one.
///
/// Windows calls this rundown protection. Each instance has a *seat*, which counts the callers inside. ``entrance``
/// names the seat for new callers:
///
/// 1. A caller reads the entrance, counts itself in at that seat, and reads the entrance again.
/// 2. If the entrance is unchanged, the caller is inside. Otherwise it counts itself out and starts over.
/// 3. To replace or close, the guard changes the entrance first, then marks the seat as *leaving* and reads its counter.
///
/// All these accesses are sequentially consistent. Either the caller counted itself in before the guard read the counter, and the
/// guard waits for it; or the caller's second read finds another entrance, and the caller touches nothing. The entrance contains
/// a number that increases with every change, so a seat that was freed and taken again is never mistaken for its earlier use. A
/// caller that starts over may count in and out of a seat in any state. At worst, it reports an empty seat again.
///
/// Entering and leaving take one atomic addition each. A `Mutex` around a strong reference took 20 ns more per call. With the
/// same addition, the upper bits of a seat's counter count every typed call that ever entered: see ``CallKind``.
///
/// `@unchecked Sendable`: the two arrays live as long as the guard, and the counters are atomic. An occupant is written before
/// the entrance names its seat, published by the entrance, and cleared once the seat is empty and the entrance names another.
@safe
package final class RundownGuard: @unchecked Sendable {
    /// The instance in a seat; the unmanaged reference is valid because the channel keeps the instance alive.
    @safe
    package struct Occupant {
        /// The channel to the instance, which keeps the instance alive.
        package let channel: any Channel
        /// The instance, if it is in this process.
        package let instance: Unmanaged<PluginInstance>?
    }

    /// The dependencies shared by all calls.
    package let dependencies: CallDependencies

    /// The maximum number of instances with callers inside: one, its successor, and those whose callers never return.
    package static let seatCount = 8

    /// The index of the seat for new callers plus one, or 0 while the guard is shut; the upper bits count changes.
    private let entrance = Atomic<UInt64>(0)
    private let counts: UnsafeMutablePointer<Atomic<UInt64>>
    private let occupants: UnsafeMutablePointer<Occupant?>
    private let state = Mutex(State())
    /// The typed calls that failed, by code.
    private let failures = Mutex<[ConnectorError.Code: UInt64]>([:])

    private struct State {
        /// For each taken seat, the event that its last caller has left.
        var empty: [OneShot<Void>?] = Array(repeating: nil, count: RundownGuard.seatCount)
        /// The number of changes to the entrance.
        var changes: UInt64 = 0
        /// The seat that the entrance names.
        var current: Int?
    }

    /// The bits of the entrance that name a seat.
    private static let seatMask: UInt64 = 0xFF
    /// The bits of a counter that count the callers inside: far more than there can be threads and pending calls.
    private static let inside: UInt64 = 1 << 23 - 1
    /// The bit of a counter that is set while the guard waits for the callers to leave.
    private static let leaving: UInt64 = 1 << 23

    /// The kind of a call, as the amount added to a counter. The upper 40 bits of a counter may wrap around.
    package enum CallKind: UInt64 {
        /// A call by name, counted by its caller.
        case named = 1
        /// A typed or prepared call, or a lease for several.
        case typed = 0x100_0001
    }

    /// Creates a guard that admits no call.
    package init(_ dependencies: CallDependencies) {
        self.dependencies = dependencies
        unsafe counts = .allocate(capacity: Self.seatCount)
        unsafe occupants = .allocate(capacity: Self.seatCount)
        for seat in 0..<Self.seatCount {
            unsafe (counts + seat).initialize(to: Atomic(0))
            unsafe (occupants + seat).initialize(to: nil)
        }
    }

    deinit {
        unsafe counts.deinitialize(count: Self.seatCount)
        unsafe occupants.deinitialize(count: Self.seatCount)
        unsafe counts.deallocate()
        unsafe occupants.deallocate()
    }

    // MARK: Callers

    /// Admits a call if it need not wait; takes no lock.
    ///
    /// - Parameter holder: The instance whose serial gate the call has entered already; nil if it has entered none. If the call is not
    ///   admitted, the caller must leave that gate.
    /// - Returns: Nil if the guard is shut, if another call is inside the instance's serial gate, or if a successor has replaced
    ///   `holder`.
    @inline(__always)
    package func admitNow(_ kind: CallKind = .named, insideSerialGateOf holder: PluginInstance? = nil) -> Admission? {
        while true {
            let known = entrance.load(ordering: .sequentiallyConsistent)
            guard known & Self.seatMask != 0 else { return nil }
            let seat = Int(known & Self.seatMask) - 1
            unsafe counts[seat].wrappingAdd(kind.rawValue, ordering: .sequentiallyConsistent)
            guard entrance.load(ordering: .sequentiallyConsistent) == known else {
                undoEnter(seat, kind)
                continue
            }
            // An optional of a struct with a reference has the struct's own layout.
            let occupant = unsafe UnsafeRawPointer(occupants + seat).assumingMemoryBound(to: Occupant.self)
            let instance = unsafe occupant.pointee.instance
            let mayEnter =
                if let holder {
                    unsafe instance?.toOpaque() == Unmanaged.passUnretained(holder).toOpaque()
                } else {
                    unsafe instance?._withUnsafeGuaranteedRef { $0.serialGate?.enterNow() ?? true } ?? true
                }
            guard mayEnter else {
                undoEnter(seat, kind)
                return nil
            }
            return unsafe Admission(.passUnretained(self), seat: seat, occupant)
        }
    }

    /// The current instance; nil if the guard is shut or the instance is not in this process.
    package var instance: PluginInstance? {
        // Seats are taken and vacated under the same lock.
        state.withLock { state in
            state.current.flatMap { unsafe occupants[$0]?.instance?.takeUnretainedValue() }
        }
    }

    /// Counts a caller out.
    @inline(__always)
    package func leave(_ seat: Int) {
        subtract(1, at: seat)
    }

    /// Counts a caller out as if it had never entered.
    private func undoEnter(_ seat: Int, _ kind: CallKind) {
        subtract(kind.rawValue, at: seat)
    }

    @inline(__always)
    private func subtract(_ amount: UInt64, at seat: Int) {
        let after = unsafe counts[seat].wrappingSubtract(amount, ordering: .sequentiallyConsistent).newValue
        if after & (Self.leaving | Self.inside) == Self.leaving { notifyEmpty(seat) }
    }

    @inline(never)
    private func notifyEmpty(_ seat: Int) {
        state.withLock { state -> OneShot<Void>? in
            // By now the seat may belong to another instance, to which no calls are directed yet.
            let count = unsafe counts[seat].load(ordering: .sequentiallyConsistent)
            return state.current == seat || count & (Self.leaving | Self.inside) != Self.leaving
                ? nil : state.empty[seat]
        }?
        .send()
    }

    // MARK: The gate

    /// Directs new calls to an instance.
    ///
    /// - Returns: The instance's seat, for ``vacate(_:)``; nil if instances whose callers never return occupy all seats.
    package func directCalls(to channel: any Channel) -> Int? {
        state.withLock { state in
            guard let seat = assignSeat(to: channel, &state) else { return nil }
            change(&state, to: seat)
            return seat
        }
    }

    /// Reserves a seat for an instance that receives no calls yet.
    ///
    /// - Returns: The seat, for ``directCalls(toSeat:)`` or ``vacate(_:)``; nil as for ``directCalls(to:)``.
    package func reserve(for channel: any Channel) -> Int? {
        state.withLock { assignSeat(to: channel, &$0) }
    }

    /// Directs new calls to the instance of a reserved seat; cannot fail.
    package func directCalls(toSeat seat: Int) {
        state.withLock { change(&$0, to: seat) }
    }

    private func assignSeat(to channel: any Channel, _ state: inout State) -> Int? {
        guard let seat = state.empty.indices.first(where: { state.empty[$0] == nil }) else { return nil }
        state.empty[seat] = OneShot()
        let instance = unsafe channel.instance.map { unsafe Unmanaged.passUnretained($0) }
        unsafe occupants[seat] = Occupant(channel: channel, instance: instance)
        unsafe counts[seat].bitwiseAnd(~Self.leaving, ordering: .sequentiallyConsistent)
        return seat
    }

    /// Admits no more calls. Calls already inside are not affected.
    package func shut() {
        state.withLock { change(&$0, to: nil) }
    }

    private func change(_ state: inout State, to seat: Int?) {
        state.changes += 1
        state.current = seat
        let seatNumber = UInt64(seat.map { $0 + 1 } ?? 0)
        entrance.store(state.changes << 8 | seatNumber, ordering: .sequentiallyConsistent)
    }

    /// The event that the last caller has left a seat that the entrance no longer names.
    package func emptied(_ seat: Int) -> OneShot<Void> {
        let empty = state.withLock { $0.empty[seat] } ?? OneShot()
        let before = unsafe counts[seat].bitwiseOr(Self.leaving, ordering: .sequentiallyConsistent).oldValue
        if before & Self.inside == 0 { empty.send() }
        return empty
    }

    /// The number of callers inside the instance of a seat.
    package func callerCount(inside seat: Int) -> Int {
        Int(unsafe counts[seat].load(ordering: .relaxed) & Self.inside)
    }

    /// Frees an empty seat and releases the guard's reference to its instance.
    package func vacate(_ seat: Int) {
        let occupant = state.withLock { state in
            state.empty[seat] = nil
            defer { unsafe occupants[seat] = nil }
            return unsafe occupants[seat]
        }
        // Release the occupant outside the lock.
        _ = occupant
    }
}

/// Statistics.
extension RundownGuard {
    /// The number of calls inside the plugin or waiting for its serial gate.
    package var activeCalls: Int {
        let inside = (0..<Self.seatCount).reduce(0) { sum, seat in
            unsafe sum + Int(counts[seat].load(ordering: .relaxed) & Self.inside)
        }
        return inside + (instance?.serialGate?.waitingCount ?? 0)
    }

    /// The number of typed and prepared calls that have entered. A lease counts once, however many calls its body makes.
    package var typedCalls: UInt64 {
        (0..<Self.seatCount).reduce(0) { sum, seat in
            unsafe sum + counts[seat].load(ordering: .relaxed) >> 24
        }
    }

    /// The number of typed and prepared calls that failed, by error code.
    package var typedFailures: [ConnectorError.Code: UInt64] { failures.withLock(\.self) }

    /// Counts a failed typed or prepared call.
    package func failed(_ error: ConnectorError) {
        failures.withLock { $0[error.code.key(in: $0), default: 0] += 1 }
    }
}
