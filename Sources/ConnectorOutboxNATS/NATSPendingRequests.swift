// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The requests under way on one connection, by their numbers.
final class NATSPendingRequests: Sendable {
    private struct State {
        var takers: [UInt64: NATSConnection.Taker] = [:]
        /// The requests for a consumer's messages, oldest first.
        var pulls: [String: [UInt64]] = [:]
        var last: UInt64 = 0
        var onEnd: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// What the subjects of answers begin with.
    let inbox: String

    init(inbox: String) {
        self.inbox = inbox
    }

    /// Says what to do when the library has closed the connection.
    func onEnd(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = body }
    }

    /// The library has closed the connection.
    func end() { state.withLock(\.onEnd)?() }

    func add(_ consumer: String?, _ taker: @escaping NATSConnection.Taker) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.takers[state.last] = taker
            if let consumer { state.pulls[consumer, default: []].append(state.last) }
            return state.last
        }
    }

    func remove(_ number: UInt64) {
        state.withLock { state in
            state.takers[number] = nil
            for (consumer, numbers) in state.pulls where numbers.contains(number) {
                let others = numbers.filter { $0 != number }
                state.pulls[consumer] = others.isEmpty ? nil : others
            }
        }
    }

    /// The request that a message is for: the last token of its subject, or for a stored message, which keeps its own
    /// subject, the oldest one for its consumer.
    func number(_ subject: String, _ reply: String) -> UInt64? {
        if subject.hasPrefix(inbox) { return UInt64(subject.dropFirst(inbox.utf8.count + 1)) }
        guard let consumer = NATSLease(reply)?.consumer else { return nil }
        return state.withLock { $0.pulls[consumer]?.first }
    }

    /// Hands an answer to its request; ignores one whose request has ended.
    func take(_ number: UInt64, _ message: NATSMessage) {
        guard let taker = state.withLock({ $0.takers[number] }), taker(message) else { return }
        remove(number)
    }
}
