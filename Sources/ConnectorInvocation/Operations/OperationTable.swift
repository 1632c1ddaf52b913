// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// The pending asynchronous calls to plugins, by their 64-bit ids.
///
/// Each call has one outcome: the plugin's completion, the deadline, or cancellation by the caller, whichever comes first. A
/// plugin that completes a given-up call is told so, without being reported. A plugin that completes a call twice, or one that
/// never existed, violates the ABI. Ids are never reused: the lower 20 bits name a slot, and the upper 44 bits count its uses.
///
/// A call begins before its caller waits for it. So a call that completes inside the plugin's function needs no continuation,
/// and no lock either: see ``OperationSlot``. Only giving up, asking whether a call was given up, and progress, which few calls
/// observe, take a lock. No plugin or caller code runs while it is held.
package final class OperationTable: Sendable {
    /// The plugin's result, or an error.
    package typealias Outcome = Result<[UInt8], ConnectorError>

    /// Receives the progress of a call, on the plugin's thread.
    package typealias Observer = @Sendable (JSONValue) -> Void

    /// The response to a plugin that completes a call or reports progress.
    package enum Answer: Sendable {
        /// The call was pending.
        case accepted
        /// The call was already completed, or never existed.
        case unknown
        /// The call belongs to another instance and remains pending.
        case foreign
        /// The host has given up the call: too late, but not misbehaviour.
        case givenUp
    }

    /// The maximum number of pending calls.
    package static let capacity = 1 << slotBits
    private static let slotBits: UInt64 = 20

    private let slots: OperationSlots
    /// The observers of progress, by call id.
    private let observers = Mutex<[UInt64: Observer]>([:])
    /// The given-up calls by owner, until the owner is destroyed.
    private let givenUp = Mutex<[UInt64: GivenUpCalls]>([:])

    /// Creates an empty table.
    ///
    /// - Parameter capacity: The maximum number of pending calls, at most ``capacity``.
    package init(capacity: Int = OperationTable.capacity) {
        slots = OperationSlots(capacity: min(capacity, Self.capacity))
    }

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - owner: The only instance that may complete the call.
    ///   - progress: Receives the call's progress, on the plugin's thread.
    /// - Returns: The id, valid until ``awaitOutcome(of:)`` or ``takeOutcome(of:)`` returns the outcome; nil if the table is full.
    package func begin(owner: UInt64, progress: Observer? = nil) -> UInt64? {
        guard let (index, slot) = unsafe slots.take() else { return nil }
        let use = unsafe slot.pointee.state.load(ordering: .relaxed).use + 1
        let id = use << Self.slotBits | UInt64(index)
        unsafe slot.pointee.owner.store(owner, ordering: .relaxed)
        if let progress {
            unsafe slot.pointee.content.pointee.isObserved = true
            observers.withLock { $0[id] = progress }
        }
        unsafe slot.pointee.state.store(OperationSlot.State(use: use, stage: .begun), ordering: .releasing)
        return id
    }

    /// Takes the outcome of a call, if it has one. The id is invalid afterwards.
    package func takeOutcome(of id: UInt64) -> Outcome? {
        guard let slot = unsafe slot(of: id) else { return nil }
        return unsafe take(id, slot)
    }

    /// Awaits the outcome of a call. The id is invalid afterwards.
    package func awaitOutcome(of id: UInt64) async -> Outcome {
        await unsafe withUnsafeContinuation { (waiter: OperationSlot.Waiter) in
            if let outcome = unsafe wait(for: id, waiter) { unsafe waiter.resume(returning: outcome) }
        }
    }

    /// Installs a waiter, or returns the outcome if there is one.
    private func wait(for id: UInt64, _ waiter: OperationSlot.Waiter) -> Outcome? {
        guard let slot = unsafe slot(of: id) else { return Self.neverBegun(id) }
        var known = unsafe slot.pointee.state.load(ordering: .acquiring)
        while known.use == Self.use(of: id) {
            let next: OperationSlot.Stage
            switch known.stage {
            case .begun: next = .awaited
            case .storing: next = .storingAwaited
            case .stored: return unsafe take(id, slot)
            case .free, .awaited, .storingAwaited: return Self.neverBegun(id)
            }
            unsafe slot.pointee.content.pointee.waiter = waiter
            let (isWaiting, current) = unsafe slot.pointee.state.compareExchange(
                expected: known,
                desired: known.at(next),
                ordering: .acquiringAndReleasing
            )
            if isWaiting { return nil }
            known = current
        }
        return Self.neverBegun(id)
    }

    /// Takes a stored outcome and frees the slot.
    private func take(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>) -> Outcome? {
        let stored = OperationSlot.State(use: Self.use(of: id), stage: .stored)
        guard unsafe slot.pointee.state.load(ordering: .acquiring) == stored else { return nil }
        let content = unsafe slot.pointee.content
        let outcome = unsafe content.pointee.outcome.take()
        unsafe free(id, slot)
        return outcome
    }

    /// Frees a slot that the caller owns.
    private func free(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>) {
        let content = unsafe slot.pointee.content
        if unsafe content.pointee.isObserved {
            unsafe content.pointee.isObserved = false
            observers.withLock { $0[id] = nil }
        }
        let free = OperationSlot.State(use: Self.use(of: id), stage: .free)
        unsafe slot.pointee.state.store(free, ordering: .releasing)
        slots.giveBack(Self.index(of: id))
    }

    /// Completes a call on behalf of its instance.
    @discardableResult
    package func complete(_ id: UInt64, owner: UInt64, _ outcome: consuming Outcome) -> Answer {
        guard let slot = unsafe slot(of: id) else { return .unknown }
        switch unsafe claim(id, slot, owner: owner) {
        case .pending(let isAwaited):
            unsafe deliver(id, slot, consume outcome, isAwaited: isAwaited)
            return .accepted
        case .foreign: return .foreign
        case .over:
            guard unsafe wasGivenOut(id, slot) else { return .unknown }
            return givenUp.withLock { $0[owner]?.contains(id) } == true ? .givenUp : .unknown
        }
    }

    /// Gives up a call that was cancelled or whose deadline has passed. The plugin is notified separately.
    ///
    /// - Returns: Whether the call was pending.
    package func giveUp(_ id: UInt64, owner: UInt64, _ error: ConnectorError) -> Bool {
        guard let slot = unsafe slot(of: id) else { return false }
        let isAwaited = givenUp.withLock { givenUp -> Bool? in
            guard case .pending(let isAwaited) = unsafe claim(id, slot, owner: owner) else { return nil }
            givenUp[owner, default: GivenUpCalls()].insert(id)
            return isAwaited
        }
        guard let isAwaited else { return false }
        unsafe deliver(id, slot, .failure(error), isAwaited: isAwaited)
        return true
    }

    /// Whether the host gave up a call, of any instance that still exists. False if it has been forgotten.
    package func wasGivenUp(_ id: UInt64) -> Bool {
        !isPending(id) && givenUp.withLock { $0.values.contains { $0.remembers(id) } }
    }

    /// Whether the host gave up a call of an instance. False if it has been forgotten.
    package func wasGivenUp(_ id: UInt64, owner: UInt64) -> Bool {
        !isPending(id) && givenUp.withLock { $0[owner]?.remembers(id) == true }
    }

    /// Forgets the given-up calls of a destroyed instance, which may no longer complete them.
    package func forget(owner: UInt64) {
        givenUp.withLock { $0[owner] = nil }
    }

    /// Gives up every pending call of an instance.
    ///
    /// It visits every slot ever taken, at some nanoseconds each. This happens once per instance; maintaining a list would slow
    /// down every call.
    ///
    /// - Returns: The ids of the calls.
    package func giveUpAll(owner: UInt64, _ error: ConnectorError) -> [UInt64] {
        pending(owner: owner).filter { giveUp($0, owner: owner, error) }
    }

    /// The result of ``claim(_:_:owner:)``.
    private enum Claim {
        /// The call is claimed; the claimant must deliver its outcome.
        case pending(isAwaited: Bool)
        /// The call belongs to another instance.
        case foreign
        /// The call has an outcome, or never existed.
        case over
    }

    /// Claims a pending call: no other thread can then complete it or give it up.
    private func claim(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>, owner: UInt64) -> Claim {
        let use = Self.use(of: id)
        var known = unsafe slot.pointee.state.load(ordering: .acquiring)
        while known.use == use, known.stage.isPending {
            guard unsafe slot.pointee.owner.load(ordering: .relaxed) == owner else {
                let current = unsafe slot.pointee.state.load(ordering: .acquiring)
                if current == known { return .foreign }
                known = current
                continue
            }
            let (isMine, current) = unsafe slot.pointee.state.compareExchange(
                expected: known,
                desired: known.at(.storing),
                ordering: .acquiringAndReleasing
            )
            if isMine { return .pending(isAwaited: known.stage == .awaited) }
            known = current
        }
        return .over
    }

    /// Passes the outcome to the waiter, or stores it for a later one.
    private func deliver(
        _ id: UInt64,
        _ slot: UnsafeMutablePointer<OperationSlot>,
        _ outcome: consuming Outcome,
        isAwaited: Bool
    ) {
        let content = unsafe slot.pointee.content
        unsafe content.pointee.outcome = consume outcome
        if !isAwaited {
            let storing = OperationSlot.State(use: Self.use(of: id), stage: .storing)
            let isStored = unsafe slot.pointee.state.compareExchange(
                expected: storing,
                desired: storing.at(.stored),
                ordering: .acquiringAndReleasing
            ).exchanged
            // Otherwise, a waiter has arrived in the meantime.
            if isStored { return }
        }
        let waiter = unsafe content.pointee.waiter.take()
        guard let outcome = unsafe content.pointee.outcome.take() else { return }
        unsafe free(id, slot)
        unsafe waiter?.resume(returning: outcome)
    }

    /// The pending calls of an instance.
    package func pending(owner: UInt64) -> [UInt64] {
        slots.indices.compactMap { index in
            guard let slot = unsafe slots.slot(at: index) else { return nil }
            let state = unsafe slot.pointee.state.load(ordering: .acquiring)
            guard state.stage.isPending else { return nil }
            guard unsafe slot.pointee.owner.load(ordering: .relaxed) == owner else { return nil }
            return state.use << Self.slotBits | UInt64(index)
        }
    }

    /// Whether no other call of the same instance is pending. It visits every slot ever taken, at some nanoseconds each.
    package func isOnlyCall(_ id: UInt64) -> Bool {
        guard isPending(id), let slot = unsafe slot(of: id) else { return true }
        let owner = unsafe slot.pointee.owner.load(ordering: .relaxed)
        return pending(owner: owner).allSatisfy { $0 == id }
    }

    /// Whether a call is pending.
    package func isPending(_ id: UInt64) -> Bool {
        guard let slot = unsafe slot(of: id) else { return false }
        let state = unsafe slot.pointee.state.load(ordering: .acquiring)
        return state.use == Self.use(of: id) && state.stage.isPending
    }

    /// Passes the progress of a pending call to its observer.
    package func progress(_ id: UInt64, owner: UInt64, _ value: JSONValue) -> Answer {
        guard let slot = unsafe slot(of: id) else { return .unknown }
        let state = unsafe slot.pointee.state.load(ordering: .acquiring)
        guard state.use == Self.use(of: id), state.stage.isPending else {
            guard unsafe wasGivenOut(id, slot) else { return .unknown }
            return givenUp.withLock { $0[owner]?.contains(id) } == true ? .givenUp : .unknown
        }
        guard unsafe slot.pointee.owner.load(ordering: .relaxed) == owner else { return .foreign }
        observers.withLock { $0[id] }?(value)
        return .accepted
    }

    private func slot(of id: UInt64) -> UnsafeMutablePointer<OperationSlot>? {
        unsafe slots.slot(at: Self.index(of: id))
    }

    /// Whether the id was ever issued.
    private func wasGivenOut(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>) -> Bool {
        1...max(1, unsafe slot.pointee.state.load(ordering: .acquiring).use) ~= Self.use(of: id)
    }

    private static func index(of id: UInt64) -> Int { Int(id & (1 << slotBits - 1)) }

    private static func use(of id: UInt64) -> UInt64 { id >> slotBits }

    private static func neverBegun(_ id: UInt64) -> Outcome {
        .failure(ConnectorError(.failed, "the operation \(id) does not exist"))
    }
}
