// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorPlatform

/// The lanes of a runner, as its host sees them. A lane is opened when a call finds none free.
package final class CallLanes: Sendable {
    /// The most lanes of a runner; calls beyond them travel as messages.
    package static let limit = 16
    /// How long a call waits for a lane to open, in nanoseconds: a stopped runner opens none, and the call still needs time of its
    /// own.
    static let openingPatience: UInt64 = 1_000_000_000

    fileprivate struct State: Sendable {
        var free: [CallLane] = []
        /// Lanes whose last caller has stopped waiting for its answer.
        var late: [CallLane] = []
        /// Lanes that did not open in time; no other is opened until they have.
        var unopened: [CallLane] = []
        var all: [CallLane] = []
        /// How many callers are in a lane, or opening one.
        var inside = 0
        /// Whether the runner has no thread for another lane.
        var isRefused = false
        var end: RunnerEnd?
    }

    private let state = Monitor(State())

    /// Creates the lanes of a runner that has none.
    package init() {}

    /// A lane for the caller alone, until ``giveBack(_:)``; nil if none is free, so that the call travels as a message.
    ///
    /// - Parameters:
    ///   - patience: How long a call may take, in nanoseconds.
    ///   - open: Tells the runner about a new lane, whose memory the descriptor names; false if it cannot.
    ///   - onLate: Called if the runner has not opened the lane in time: it may hang.
    package func take(
        _ clock: any HostClock,
        patience: UInt64,
        open: (_ descriptor: Int32) -> Bool,
        onLate: () -> Void
    ) -> CallLane? {
        enum Finding { case lane(CallLane), room, none }
        let finding = state.withLock { state -> Finding in
            guard state.end == nil else { return .none }
            if state.free.isEmpty { state.recover(patience) }
            if let lane = state.free.popLast() {
                state.inside += 1
                return .lane(lane)
            }
            guard state.all.count < Self.limit, !state.isRefused, state.unopened.isEmpty else { return .none }
            state.inside += 1
            return .room
        }
        switch finding {
        case .none: return nil
        case .lane(let lane): return lane
        case .room: return make(clock, patience, open, onLate)
        }
    }

    private func make(
        _ clock: any HostClock,
        _ patience: UInt64,
        _ open: (Int32) -> Bool,
        _ onLate: () -> Void
    ) -> CallLane? {
        guard let memory = SharedMemory(size: CallLane.size) else { return giveUp() }
        let lane = CallLane(memory, clock, patience: min(patience, Self.openingPatience))
        let isCounted = state.withLock { state in
            guard state.end == nil, state.all.count < Self.limit else { return false }
            state.all.append(lane)
            return true
        }
        guard isCounted else { return giveUp() }
        guard open(memory.descriptor) else { return giveUp(lane) }
        memory.closeDescriptor()
        lane.stream.receive()
        let isServed = lane.stream.word() == LaneAnswer.answered.rawValue
        lane.callEnds()
        if lane.stream.stop == .late {
            state.withLock { $0.unopened.append(lane) }
            leave()
            onLate()
            return nil
        }
        guard isServed, lane.stream.stop == nil else { return giveUp(lane, isRefused: true) }
        lane.patience = patience
        return lane
    }

    /// Gives up a lane that has not opened.
    ///
    /// - Parameter isRefused: Whether the runner has no thread for it, and is not asked again. What the host lacks, it may have later.
    private func giveUp(_ lane: CallLane? = nil, isRefused: Bool = false) -> CallLane? {
        state.withLock { state in
            if isRefused { state.isRefused = true }
            if let lane { state.all.removeAll { $0 === lane } }
        }
        leave()
        return nil
    }

    private func leave() {
        state.withLock { $0.inside -= 1 }
        state.signal()
    }

    /// Takes a lane back after a call. A lane whose answer is still due is reused once that has arrived; one that stopped for another
    /// reason is never reused.
    package func giveBack(_ lane: CallLane) {
        lane.callEnds()
        let isOver = state.withLock { state in
            state.inside -= 1
            switch lane.stream.stop {
            case nil: state.free.append(lane)
            case .late: state.late.append(lane)
            case .over, .corrupt: break
            }
            return state.end != nil
        }
        if isOver { state.signal() }
    }

    /// Tells every caller how the runner has ended, and waits until they have left.
    func end(_ end: RunnerEnd) {
        state.withLock { $0.end = end }
        state.wait { state -> Monitor<State>.Step<Void> in
            guard state.inside > 0 else { return .proceed(()) }
            for lane in state.all { lane.end() }
            return .wait(until: SystemTime.monotonic() + 10_000_000)
        }
        state.withLock { state in (state.free, state.late, state.unopened, state.all) = ([], [], [], []) }
    }

    /// How the runner has ended; nil if it has not.
    package var runnerEnd: RunnerEnd? { state.withLock(\.end) }
}

extension CallLanes.State {
    /// Frees the lanes that have opened late, or whose answers have arrived late.
    mutating func recover(_ patience: UInt64) {
        unopened.removeAll { lane in
            let word = lane.stream.lateAnswer()
            guard lane.stream.stop != .late else { return false }
            if word == LaneAnswer.answered.rawValue {
                lane.patience = patience
                free.append(lane)
            } else {
                isRefused = true
                all.removeAll { $0 === lane }
            }
            return true
        }
        late.removeAll { lane in
            guard lane.stream.discard() else { return false }
            free.append(lane)
            return true
        }
    }
}
