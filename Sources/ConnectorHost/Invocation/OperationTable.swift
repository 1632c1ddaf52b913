// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

/// The asynchronous calls that plugins have taken on and not completed, by their 64-bit ids.
///
/// A call ends exactly once: by the plugin's completion, its deadline, or its caller giving up, whichever is first;
/// everything later is told that the operation is unknown. An id is never given out twice: its upper 44 bits count the
/// uses of the slot that its lower 20 bits name.
///
/// A call is begun before anybody waits for it, so one that completes inside the plugin's function costs no continuation: two
/// uncontended locks in all. Nothing of a plugin or a caller ever runs under the lock.
final class OperationTable: Sendable {
    /// How a call ended.
    typealias Outcome = Result<[UInt8], ConnectorError>

    /// What `complete` answers a plugin.
    enum Answer: Sendable {
        /// The call was pending and has ended now.
        case accepted
        /// Late, double, or never given out.
        case unknown
        /// Pending, but another gate's; it stays so.
        case foreign
        /// The host gave the call up before: too late, and nobody's fault.
        case givenUp
    }

    private typealias Waiter = UnsafeContinuation<Outcome, Never>

    /// Where a call stands.
    @safe
    private enum Stage {
        case free
        /// Nobody waits yet.
        case begun
        /// The continuation is resumed when the call ends.
        case awaited(Waiter)
        /// It ended before anybody waited.
        case ended(Outcome)
    }

    @safe
    private struct Slot {
        var uses: UInt64 = 0
        var owner: UInt64 = 0
        var stage: Stage = .free
        var progress: (@Sendable (JSONValue) -> Void)?
        /// The last use that the host gave up and the plugin has not completed since, and by whom it was to be completed.
        var givenUp: (use: UInt64, owner: UInt64) = (0, 0)

        /// Takes on a call; returns the use that it is.
        mutating func begin(owner: UInt64, progress: (@Sendable (JSONValue) -> Void)?) -> UInt64 {
            uses += 1
            self.owner = owner
            stage = .begun
            if let progress { self.progress = progress }
            return uses
        }

        /// Takes the outcome out of a call that has ended, and frees the slot.
        mutating func take() -> Outcome? {
            guard case .ended(let outcome) = stage else { return nil }
            free()
            return outcome
        }

        /// Frees the slot.
        mutating func free() {
            stage = .free
            if progress != nil { progress = nil }
        }
    }

    private struct State {
        var slots: [Slot] = []
        var free: [Int] = []
    }

    /// The most calls that can be pending at once.
    static let capacity = 1 << slotBits
    private static let slotBits: UInt64 = 20

    private let state = Mutex(State())
    private let capacity: Int

    /// A table without calls.
    ///
    /// - Parameter capacity: The most calls that can be pending at once, up to the usual number.
    init(capacity: Int = OperationTable.capacity) {
        self.capacity = min(capacity, Self.capacity)
    }

    /// Takes on a call.
    ///
    /// - Parameters:
    ///   - owner: The instance, which alone may complete it.
    ///   - progress: Told how far it is, on the plugin's thread.
    /// - Returns: The id, for one ``end(of:)`` or ``endIfNow(of:)`` that answers; nil if the table is full.
    func begin(owner: UInt64, progress: (@Sendable (JSONValue) -> Void)? = nil) -> UInt64? {
        state.withLock { state in
            let index: Int
            if let free = state.free.popLast() {
                index = free
            } else {
                guard state.slots.count < capacity else { return nil }
                index = state.slots.count
                state.slots.append(Slot())
            }
            return state.slots[index].begin(owner: owner, progress: progress) << Self.slotBits | UInt64(index)
        }
    }

    /// How a call ended, if it has; the id is used up then.
    func endIfNow(of id: UInt64) -> Outcome? {
        state.withLock { state in
            guard let index = Self.index(of: id, in: state), let outcome = state.slots[index].take() else { return nil }
            state.free.append(index)
            return outcome
        }
    }

    /// Waits for a call to end; the id is used up then.
    func end(of id: UInt64) async -> Outcome {
        await unsafe withUnsafeContinuation { (waiter: Waiter) in
            let outcome = state.withLock { state -> Outcome? in
                guard let index = Self.index(of: id, in: state) else {
                    return .failure(ConnectorError(.failed, "the operation \(id) was never begun"))
                }
                if let outcome = state.slots[index].take() {
                    state.free.append(index)
                    return outcome
                }
                state.slots[index].stage = unsafe .awaited(waiter)
                return nil
            }
            if let outcome { unsafe waiter.resume(returning: outcome) }
        }
    }

    /// Ends a call in the name of its instance.
    @discardableResult
    func complete(_ id: UInt64, owner: UInt64, _ outcome: consuming Outcome) -> Answer {
        end(id, owner: owner, outcome, by: .plugin)
    }

    /// Ends a call whose deadline has passed; a completion after that is the plugin's misbehaviour.
    ///
    /// - Returns: Whether the call was pending.
    func expire(_ id: UInt64, owner: UInt64, _ error: ConnectorError) -> Bool {
        end(id, owner: owner, .failure(error), by: .deadline) == .accepted
    }

    /// Ends a call that nobody wants any more; the plugin may learn of that too late, so its completion is no misbehaviour.
    ///
    /// - Returns: Whether the call was pending.
    func giveUp(_ id: UInt64, owner: UInt64, _ error: ConnectorError) -> Bool {
        end(id, owner: owner, .failure(error), by: .caller) == .accepted
    }

    /// Gives up every call of an instance that is still pending.
    ///
    /// - Returns: Which ones.
    func giveUpAll(owner: UInt64, _ error: ConnectorError) -> [UInt64] {
        pending(owner: owner).filter { giveUp($0, owner: owner, error) }
    }

    /// Who ends a call.
    private enum Side {
        case plugin
        case deadline
        case caller
    }

    private func end(_ id: UInt64, owner: UInt64, _ outcome: consuming Outcome, by side: Side) -> Answer {
        let outcome = outcome
        let (answer, waiter) = unsafe state.withLock { state -> (Answer, Waiter?) in
            if side == .plugin, Self.forget(id, owner: owner, &state) { return (.givenUp, nil) }
            guard let index = Self.index(of: id, in: state) else { return (.unknown, nil) }
            guard state.slots[index].owner == owner else { return (.foreign, nil) }
            switch state.slots[index].stage {
            case .free, .ended: return (.unknown, nil)
            case .begun:
                state.slots[index].stage = .ended(outcome)
                if side == .caller { state.slots[index].givenUp = (state.slots[index].uses, owner) }
                return (.accepted, nil)
            case .awaited(let waiter):
                if side == .caller { state.slots[index].givenUp = (state.slots[index].uses, owner) }
                state.slots[index].free()
                state.free.append(index)
                return unsafe (.accepted, waiter)
            }
        }
        unsafe waiter?.resume(returning: outcome)
        return answer
    }

    /// Whether a call was given up; says so once, for a second completion is one too many whatever came before.
    private static func forget(_ id: UInt64, owner: UInt64, _ state: inout State) -> Bool {
        guard let index = wasGivenUp(id, owner: owner, in: state) else { return false }
        state.slots[index].givenUp = (0, 0)
        return true
    }

    private static func wasGivenUp(_ id: UInt64, owner: UInt64, in state: State) -> Int? {
        let index = Int(id & (1 << slotBits - 1))
        guard index < state.slots.count, state.slots[index].givenUp == (id >> slotBits, owner) else { return nil }
        return index
    }

    /// The calls of an instance that are pending.
    func pending(owner: UInt64) -> [UInt64] {
        state.withLock { state in
            state.slots.indices.compactMap { index in
                guard state.slots[index].owner == owner else { return nil }
                switch state.slots[index].stage {
                case .free, .ended: return nil
                case .begun, .awaited: return state.slots[index].uses << Self.slotBits | UInt64(index)
                }
            }
        }
    }

    /// Passes on how far a pending call is.
    func progress(_ id: UInt64, owner: UInt64, _ value: JSONValue) -> Answer {
        let (answer, observer) = state.withLock { state -> (Answer, (@Sendable (JSONValue) -> Void)?) in
            if Self.wasGivenUp(id, owner: owner, in: state) != nil { return (.givenUp, nil) }
            guard let index = Self.index(of: id, in: state) else { return (.unknown, nil) }
            guard state.slots[index].owner == owner else { return (.foreign, nil) }
            if case .ended = state.slots[index].stage { return (.unknown, nil) }
            return (.accepted, state.slots[index].progress)
        }
        observer?(value)
        return answer
    }

    /// The slot of an id that is in use.
    private static func index(of id: UInt64, in state: State) -> Int? {
        let index = Int(id & (1 << slotBits - 1))
        guard index < state.slots.count, state.slots[index].uses == id >> slotBits else { return nil }
        if case .free = state.slots[index].stage { return nil }
        return index
    }
}
