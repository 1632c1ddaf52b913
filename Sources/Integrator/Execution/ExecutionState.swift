// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Decides which call may run, as a value that does nothing itself.
///
/// Each event returns what has to be done, in order; ``Turnstile`` does it. `Member` stands for a call: tests use
/// numbers, the call flow uses ``Turn``.
// Not `~Copyable`: Swift 6.3 crashes while it optimises a generic enum that is.
enum ExecutionState<Member: Hashable> {
    /// Nothing to keep: every call runs.
    case independent
    /// The one call that runs, if any.
    case only(running: Member?)
    /// The one call that runs, and those behind it in order of arrival.
    case queue(running: Member?, waiting: [Member])
    /// The newest call while it waits, and every earlier one that has not left.
    case latest(debounce: Duration, present: Set<Member>, newest: Member?)

    /// What has to be done about a call.
    enum Action: Equatable {
        /// The call may begin once the duration has passed.
        case start(Member, after: Duration)
        /// The call was overtaken: it ends now.
        case supersede(Member)
        /// The call never runs and nobody observes it.
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

    /// Takes in a call that was just made.
    ///
    /// - Parameter member: The call, never seen before.
    /// - Returns: What has to be done. Nothing means that the call waits.
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
            // The newest one is either the only call that nobody has overtaken yet, or absent.
            let overtaken: [Action] = newest.map { [.supersede($0)] } ?? []
            let isAlone = present.isEmpty
            present.insert(member)
            self = .latest(debounce: debounce, present: present, newest: member)
            return isAlone ? [.start(member, after: debounce)] : overtaken
        }
    }

    /// Lets go of a call that has ended, whether it ever ran or gave up while it waited.
    ///
    /// - Parameter member: The call; one that is not here changes nothing.
    /// - Returns: What has to be done.
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
