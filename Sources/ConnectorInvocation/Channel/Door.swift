// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorOneShot
internal import Synchronization

/// What the calls to a gate pass: it leads them to the instance of the moment, and tells when the last one has left an earlier
/// instance.
///
/// Each instance has a *seat* with a counter of the callers inside. ``entrance`` names the seat that new callers take:
///
/// 1. A caller reads the entrance, counts itself in at that seat, and reads the entrance again.
/// 2. If it still says the same, the caller is inside. Otherwise it counts itself out and begins anew.
/// 3. To replace or close, the door changes the entrance first, then marks the seat as *leaving* and reads its counter.
///
/// All of these are sequentially consistent, so either the caller counted itself in before the door read the counter, and the door
/// waits for it, or the caller's second look finds another entrance, and it touches nothing. The entrance carries a number that
/// grows with every change, so a seat that was freed and taken again is never mistaken for the earlier one. A caller that begins
/// anew may count in and out of a seat in whatever state; that only ever repeats the news that a seat is empty.
///
/// Entering and leaving cost one atomic addition each. A `Mutex` around a strong reference in its place cost 20 ns more a call.
///
/// `@unchecked Sendable`: the two arrays are as old as the door; counters are atomic; an occupant is written while nobody is led
/// to its seat, published by the entrance, and cleared when the seat is empty and the entrance leads elsewhere.
@safe
package final class Door: @unchecked Sendable {
    /// An instance, as those who are inside use it. Its reference is good as long as its channel, which it keeps.
    @safe
    package struct Occupant {
        /// How calls reach it. Keeps the instance alive.
        package let channel: any Channel
        /// The instance, if it is in this process.
        package let instance: Unmanaged<PluginInstance>?
    }

    /// What calls share.
    package let environment: CallEnvironment

    /// How many instances can have callers inside at once: one, its successor, and those whose callers never come back.
    package static let seatCount = 8

    /// The seat that callers take, plus one, or 0 if no call may pass; above it the number of the change.
    private let entrance = Atomic<UInt64>(0)
    private let counts: UnsafeMutablePointer<Atomic<UInt64>>
    private let occupants: UnsafeMutablePointer<Occupant?>
    private let state = Mutex(State())

    private struct State {
        /// For each seat that is taken, what arrives when its last caller has left.
        var empty: [OneShot<Void>?] = Array(repeating: nil, count: Door.seatCount)
        /// How often the entrance was changed.
        var changes: UInt64 = 0
        /// The seat that the entrance leads to.
        var current: Int?
    }

    /// The bits of the entrance that name a seat.
    private static let seatMask: UInt64 = 0xFF
    /// In a counter: the door waits for the callers to leave.
    private static let leaving: UInt64 = 1 << 63

    /// No call may pass.
    package init(_ environment: CallEnvironment) {
        self.environment = environment
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

    /// Whether calls may pass.
    package var isOpen: Bool { entrance.load(ordering: .acquiring) & Self.seatMask != 0 }

    /// Lets an operation in if nobody has to wait for that, without a lock.
    ///
    /// - Returns: Nil if no call may pass, or a `serial` instance is taken.
    @inline(__always)
    package func admitNow() -> Admission? {
        guard let seat = enter() else { return nil }
        guard let occupant = unsafe occupant(of: seat) else { return nil }
        if let instance = unsafe occupant.pointee.instance,
            unsafe !instance._withUnsafeGuaranteedRef({ $0.turn?.beginNow() ?? true })
        {
            leave(seat)
            return nil
        }
        return unsafe Admission(.passUnretained(self), seat: seat, occupant)
    }

    /// Lets an operation in that has waited for the turn of a `serial` instance.
    ///
    /// - Returns: Nil if another instance has taken its place; then the turn is still the caller's to end.
    package func admit(holdingTurnOf instance: PluginInstance) -> Admission? {
        guard let seat = enter() else { return nil }
        guard let occupant = unsafe occupant(of: seat),
            unsafe occupant.pointee.instance?.toOpaque() == Unmanaged.passUnretained(instance).toOpaque()
        else {
            leave(seat)
            return nil
        }
        return unsafe Admission(.passUnretained(self), seat: seat, occupant)
    }

    /// Calls an operation that answers at once, without waiting for anybody.
    ///
    /// - Parameter store: Puts the values in place.
    /// - Returns: The answer; nil, and nothing was called, if no call may pass now, another one has its turn, the operation answers
    ///   later, or the instance is not in this process.
    package func callNow(
        _ name: String,
        _ store: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> JSONValue? {
        guard let admission = admitNow() else { return nil }
        return try admission.with { instance throws(ConnectorError) in
            let operation = try instance.operation(named: name)
            guard operation.answersAtOnce else { return nil }
            return try PreparedCall.with(operation, on: instance) { call throws(ConnectorError) in
                try store(call)
                try call()
                return try call.json()
            }
        }
    }

    /// The instance that calls go to, if calls may pass and it is in this process.
    package var instance: PluginInstance? {
        guard let seat = enter() else { return nil }
        defer { leave(seat) }
        return unsafe occupants[seat]?.instance?.takeUnretainedValue()
    }

    /// Counts the caller in.
    @inline(__always)
    private func enter() -> Int? {
        while true {
            let way = entrance.load(ordering: .sequentiallyConsistent)
            guard way & Self.seatMask != 0 else { return nil }
            let seat = Int(way & Self.seatMask) - 1
            unsafe counts[seat].add(1, ordering: .sequentiallyConsistent)
            if entrance.load(ordering: .sequentiallyConsistent) == way { return seat }
            leave(seat)
        }
    }

    private func occupant(of seat: Int) -> UnsafePointer<Occupant>? {
        // An optional of a structure with a reference has the structure's own layout.
        unsafe UnsafeRawPointer(occupants + seat).assumingMemoryBound(to: Occupant.self)
    }

    /// Counts a caller out.
    @inline(__always)
    package func leave(_ seat: Int) {
        let (before, after) = unsafe counts[seat].subtract(1, ordering: .sequentiallyConsistent)
        if before & Self.leaving != 0, after & ~Self.leaving == 0 { tellEmpty(seat) }
    }

    @inline(never)
    private func tellEmpty(_ seat: Int) {
        state.withLock { $0.current == seat ? nil : $0.empty[seat] }?.send()
    }

    // MARK: The gate

    /// Leads calls to an instance from now on.
    ///
    /// - Returns: Its seat, to be left by ``vacate(_:)``; nil if all are taken by instances whose callers do not come back.
    package func lead(to channel: any Channel) -> Int? {
        state.withLock { state in
            guard let seat = state.empty.indices.first(where: { state.empty[$0] == nil }) else { return nil }
            state.empty[seat] = OneShot()
            let instance = unsafe channel.instance.map { unsafe Unmanaged.passUnretained($0) }
            unsafe occupants[seat] = Occupant(channel: channel, instance: instance)
            unsafe counts[seat].bitwiseAnd(~Self.leaving, ordering: .sequentiallyConsistent)
            change(&state, to: seat)
            return seat
        }
    }

    /// Lets no further call pass; those that are inside stay.
    package func shut() {
        state.withLock { change(&$0, to: nil) }
    }

    private func change(_ state: inout State, to seat: Int?) {
        state.changes += 1
        state.current = seat
        let way = UInt64(seat.map { $0 + 1 } ?? 0)
        entrance.store(state.changes << 8 | way, ordering: .sequentiallyConsistent)
    }

    /// What arrives when the last caller has left a seat that calls are no longer led to.
    package func emptied(_ seat: Int) -> OneShot<Void> {
        let empty = state.withLock { $0.empty[seat] } ?? OneShot()
        let before = unsafe counts[seat].bitwiseOr(Self.leaving, ordering: .sequentiallyConsistent).oldValue
        if before & ~Self.leaving == 0 { empty.send() }
        return empty
    }

    /// Gives a seat back that is empty; from now on nothing here keeps its instance.
    package func vacate(_ seat: Int) {
        let occupant = state.withLock { state in
            state.empty[seat] = nil
            defer { unsafe occupants[seat] = nil }
            return unsafe occupants[seat]
        }
        // Released here, outside of the lock.
        _ = occupant
    }
}
