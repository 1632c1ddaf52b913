// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Decides which call may run, as a value without side effects.
///
/// Each event returns the actions to perform, in order; ``CallScheduler`` performs them. `Member` identifies a call: tests
/// use numbers, the call flow uses ``CallTicket``.
// Not `~Copyable`: Swift 6.3 crashes when it optimizes a noncopyable generic enum.
enum ExecutionState<Member: Hashable> {
    /// Every call runs, so there is no state.
    case independent
    /// The running call, if any.
    case only(running: Member?)
    /// The running call, and the calls behind it in order of arrival.
    case queue(running: Member?, waiting: [Member])
    /// The newest call, and every call that has not been released yet.
    case latest(debounce: Duration, present: Set<Member>, newest: Member?)

    /// An action on a call.
    enum Action: Equatable {
        /// The call may begin once the duration has passed.
        case start(Member, after: Duration)
        /// The call is superseded and ends now.
        case supersede(Member)
        /// The call never runs, and its observers are not called.
        case ignore(Member)
    }

    /// Starts without any call.
    init(_ execution: Execution) {
        switch execution.policy {
        case .independent: self = .independent
        case .only: self = .only(running: nil)
        case .queue: self = .queue(running: nil, waiting: [])
        case .latest(let debounce): self = .latest(debounce: debounce, present: [], newest: nil)
        }
    }

    /// Admits a new call.
    ///
    /// - Parameter member: The call, never seen before.
    /// - Returns: The actions to perform. An empty array means that the call waits.
    mutating func arrive(_ member: Member) -> [Action] {
        switch consume self {
        case .independent:
            self = .independent
            return [.start(member, after: .zero)]
        case .only(let running?):
            self = .only(running: running)
            return [.ignore(member)]
        case .only(nil):
            self = .only(running: member)
            return [.start(member, after: .zero)]
        case .queue(let running?, var waiting):
            waiting.append(member)
            self = .queue(running: running, waiting: waiting)
            return []
        case .queue(nil, let waiting):
            self = .queue(running: member, waiting: waiting)
            return [.start(member, after: .zero)]
        case .latest(let debounce, var present, let newest):
            // The newest call, if any, is the only one not yet superseded.
            let overtaken: [Action] = newest.map { [.supersede($0)] } ?? []
            let isAlone = present.isEmpty
            present.insert(member)
            self = .latest(debounce: debounce, present: present, newest: member)
            return isAlone ? [.start(member, after: debounce)] : overtaken
        }
    }

    /// Releases a call that has ended, whether it ran or was cancelled while waiting.
    ///
    /// - Parameter member: The call; an unknown one changes nothing.
    /// - Returns: The actions to perform.
    mutating func leave(_ member: Member) -> [Action] {
        switch consume self {
        case .independent:
            self = .independent
            return []
        case .only(let running):
            self = .only(running: running == member ? nil : running)
            return []
        case .queue(let running, var waiting):
            guard running == member else {
                waiting.removeAll { $0 == member }
                self = .queue(running: running, waiting: waiting)
                return []
            }
            let next = waiting.isEmpty ? nil : waiting.removeFirst()
            self = .queue(running: next, waiting: waiting)
            return next.map { [.start($0, after: .zero)] } ?? []
        case .latest(let debounce, var present, var newest):
            let wasPresent = present.remove(member) != nil
            if newest == member { newest = nil }
            self = .latest(debounce: debounce, present: present, newest: newest)
            guard wasPresent, let newest, present == [newest] else { return [] }
            return [.start(newest, after: debounce)]
        }
    }
}
