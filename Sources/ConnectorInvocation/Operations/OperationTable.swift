// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import Synchronization

/// The asynchronous calls that plugins have taken on and not completed, by their 64-bit ids.
///
/// A call ends exactly once: by the plugin's completion, its deadline, or its caller giving up, whichever is first. A plugin that
/// answers a call late, which the host gave up, is told so and not blamed; one that answers a call twice, or one that never was,
/// breaks the ABI. An id is never given out twice: its upper 44 bits count the uses of the slot that its lower 20 bits name.
///
/// A call is begun before anybody waits for it, so one that completes inside the plugin's function costs no continuation, and no
/// lock either: see ``OperationSlot``. Only progress, which few ask for, and giving up take one. Nothing of a plugin or a caller
/// ever runs under it.
package final class OperationTable: Sendable {
    /// How a call ended.
    package typealias Outcome = Result<[UInt8], ConnectorError>

    /// Told how far a call is, on the plugin's thread.
    package typealias Observer = @Sendable (JSONValue) -> Void

    /// What `complete` answers a plugin.
    package enum Answer: Sendable {
        /// The call was pending and has ended now.
        case accepted
        /// Double, or never given out.
        case unknown
        /// Pending, but another gate's; it stays so.
        case foreign
        /// The host gave the call up before: too late, and nobody's fault.
        case givenUp
    }

    /// The most calls that can be pending at once.
    package static let capacity = 1 << slotBits
    private static let slotBits: UInt64 = 20

    private let slots: OperationSlots
    /// Of the calls whose callers want to know how far they are, by id.
    private let observers = Mutex<[UInt64: Observer]>([:])
    /// What the host gave up, by owner, until the plugin answers or its instance is over.
    private let givenUp = Mutex<[UInt64: GivenUpCalls]>([:])

    /// A table without calls.
    ///
    /// - Parameter capacity: The most calls that can be pending at once, up to the usual number.
    package init(capacity: Int = OperationTable.capacity) {
        slots = OperationSlots(capacity: min(capacity, Self.capacity))
    }

    /// Takes on a call.
    ///
    /// - Parameters:
    ///   - owner: The instance, which alone may complete it.
    ///   - progress: Told how far it is, on the plugin's thread.
    /// - Returns: The id, for one ``end(of:)`` or ``endIfNow(of:)`` that answers; nil if the table is full.
    package func begin(owner: UInt64, progress: Observer? = nil) -> UInt64? {
        guard let (index, slot) = unsafe slots.take() else { return nil }
        let use = unsafe slot.pointee.standing.load(ordering: .relaxed).use + 1
        let id = use << Self.slotBits | UInt64(index)
        unsafe slot.pointee.owner.store(owner, ordering: .relaxed)
        if let progress {
            unsafe slot.pointee.content.pointee.isObserved = true
            observers.withLock { $0[id] = progress }
        }
        unsafe slot.pointee.standing.store(OperationSlot.Standing(use: use, stage: .begun), ordering: .releasing)
        return id
    }

    /// How a call ended, if it has; the id is used up then.
    package func endIfNow(of id: UInt64) -> Outcome? {
        guard let slot = unsafe slot(of: id) else { return nil }
        return unsafe take(id, slot)
    }

    /// Waits for a call to end; the id is used up then.
    package func end(of id: UInt64) async -> Outcome {
        await unsafe withUnsafeContinuation { (waiter: OperationSlot.Waiter) in
            if let outcome = unsafe wait(for: id, waiter) { unsafe waiter.resume(returning: outcome) }
        }
    }

    /// Puts a waiter in place; or says at once how the call ended.
    private func wait(for id: UInt64, _ waiter: OperationSlot.Waiter) -> Outcome? {
        guard let slot = unsafe slot(of: id) else { return Self.neverBegun(id) }
        var known = unsafe slot.pointee.standing.load(ordering: .acquiring)
        while known.use == Self.use(of: id) {
            let next: OperationSlot.Stage
            switch known.stage {
            case .begun: next = .awaited
            case .ending: next = .endingAwaited
            case .ended: return unsafe take(id, slot)
            case .free, .awaited, .endingAwaited: return Self.neverBegun(id)
            }
            unsafe slot.pointee.content.pointee.waiter = waiter
            let (isWaiting, current) = unsafe slot.pointee.standing.compareExchange(
                expected: known,
                desired: known.at(next),
                ordering: .acquiringAndReleasing
            )
            if isWaiting { return nil }
            known = current
        }
        return Self.neverBegun(id)
    }

    /// Takes the outcome out of a call that has ended, and frees its slot.
    private func take(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>) -> Outcome? {
        let ended = OperationSlot.Standing(use: Self.use(of: id), stage: .ended)
        guard unsafe slot.pointee.standing.load(ordering: .acquiring) == ended else { return nil }
        let content = unsafe slot.pointee.content
        let outcome = unsafe content.pointee.outcome.take()
        unsafe free(id, slot)
        return outcome
    }

    /// Makes a slot, which the caller owns, one that others can take.
    private func free(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>) {
        let content = unsafe slot.pointee.content
        if unsafe content.pointee.isObserved {
            unsafe content.pointee.isObserved = false
            observers.withLock { $0[id] = nil }
        }
        let free = OperationSlot.Standing(use: Self.use(of: id), stage: .free)
        unsafe slot.pointee.standing.store(free, ordering: .releasing)
        slots.giveBack(Self.index(of: id))
    }

    /// Ends a call in the name of its instance.
    @discardableResult
    package func complete(_ id: UInt64, owner: UInt64, _ outcome: consuming Outcome) -> Answer {
        guard let slot = unsafe slot(of: id) else { return .unknown }
        switch unsafe claim(id, slot, owner: owner) {
        case .pending(let isAwaited):
            unsafe finish(id, slot, consume outcome, isAwaited: isAwaited)
            return .accepted
        case .foreign: return .foreign
        case .over:
            guard unsafe wasGivenOut(id, slot) else { return .unknown }
            return givenUp.withLock { $0[owner]?.remove(id) } == true ? .givenUp : .unknown
        }
    }

    /// Ends a call for which nobody waits any more, or whose deadline has passed; the plugin may learn of that too late.
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
        unsafe finish(id, slot, .failure(error), isAwaited: isAwaited)
        return true
    }

    /// Forgets what was given up of an instance that is over: whatever it still answers, it must not.
    package func release(owner: UInt64) {
        givenUp.withLock { $0[owner] = nil }
    }

    /// Gives up every call of an instance that is still pending. Looks at every slot that was ever taken, some nanoseconds each:
    /// an instance ends once, and a list of its calls would cost every call.
    ///
    /// - Returns: Which ones.
    package func giveUpAll(owner: UInt64, _ error: ConnectorError) -> [UInt64] {
        pending(owner: owner).filter { giveUp($0, owner: owner, error) }
    }

    /// What somebody finds who wants to end a call.
    private enum Claim {
        /// It is the finder's to end.
        case pending(isAwaited: Bool)
        /// It is another instance's.
        case foreign
        /// It has ended, or never was.
        case over
    }

    /// Makes the caller the one who ends a call, if it is pending; nobody else can end it then.
    private func claim(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>, owner: UInt64) -> Claim {
        let use = Self.use(of: id)
        var known = unsafe slot.pointee.standing.load(ordering: .acquiring)
        while known.use == use, known.stage.isPending {
            guard unsafe slot.pointee.owner.load(ordering: .relaxed) == owner else {
                let current = unsafe slot.pointee.standing.load(ordering: .acquiring)
                if current == known { return .foreign }
                known = current
                continue
            }
            let (isMine, current) = unsafe slot.pointee.standing.compareExchange(
                expected: known,
                desired: known.at(.ending),
                ordering: .acquiringAndReleasing
            )
            if isMine { return .pending(isAwaited: known.stage == .awaited) }
            known = current
        }
        return .over
    }

    /// Hands the outcome to the waiter, or stores it for the one to come.
    private func finish(
        _ id: UInt64,
        _ slot: UnsafeMutablePointer<OperationSlot>,
        _ outcome: consuming Outcome,
        isAwaited: Bool
    ) {
        let content = unsafe slot.pointee.content
        unsafe content.pointee.outcome = consume outcome
        if !isAwaited {
            let ending = OperationSlot.Standing(use: Self.use(of: id), stage: .ending)
            let isStored = unsafe slot.pointee.standing.compareExchange(
                expected: ending,
                desired: ending.at(.ended),
                ordering: .acquiringAndReleasing
            ).exchanged
            // Else somebody began to wait meanwhile.
            if isStored { return }
        }
        let waiter = unsafe content.pointee.waiter.take()
        guard let outcome = unsafe content.pointee.outcome.take() else { return }
        unsafe free(id, slot)
        unsafe waiter?.resume(returning: outcome)
    }

    /// The calls of an instance that are pending.
    package func pending(owner: UInt64) -> [UInt64] {
        slots.indices.compactMap { index in
            guard let slot = unsafe slots.slot(at: index) else { return nil }
            let standing = unsafe slot.pointee.standing.load(ordering: .acquiring)
            guard standing.stage.isPending else { return nil }
            guard unsafe slot.pointee.owner.load(ordering: .relaxed) == owner else { return nil }
            return standing.use << Self.slotBits | UInt64(index)
        }
    }

    /// Whether nothing has ended a call.
    package func isPending(_ id: UInt64) -> Bool {
        guard let slot = unsafe slot(of: id) else { return false }
        let standing = unsafe slot.pointee.standing.load(ordering: .acquiring)
        return standing.use == Self.use(of: id) && standing.stage.isPending
    }

    /// Passes on how far a pending call is.
    package func progress(_ id: UInt64, owner: UInt64, _ value: JSONValue) -> Answer {
        guard let slot = unsafe slot(of: id) else { return .unknown }
        let standing = unsafe slot.pointee.standing.load(ordering: .acquiring)
        guard standing.use == Self.use(of: id), standing.stage.isPending else {
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

    /// Whether there was ever a call of this id.
    private func wasGivenOut(_ id: UInt64, _ slot: UnsafeMutablePointer<OperationSlot>) -> Bool {
        1...max(1, unsafe slot.pointee.standing.load(ordering: .acquiring).use) ~= Self.use(of: id)
    }

    private static func index(of id: UInt64) -> Int { Int(id & (1 << slotBits - 1)) }

    private static func use(of id: UInt64) -> UInt64 { id >> slotBits }

    private static func neverBegun(_ id: UInt64) -> Outcome {
        .failure(ConnectorError(.failed, "the operation \(id) was never begun"))
    }
}
