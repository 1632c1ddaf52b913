// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The requests in progress on one connection, by number.
final class NATSPendingRequests: Sendable {
    private struct State {
        var handlers: [UInt64: NATSConnection.ResponseHandler] = [:]
        /// The requests for a consumer's messages, oldest first.
        var pulls: [String: [UInt64]] = [:]
        var last: UInt64 = 0
        var onEnd: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// The prefix of the subjects of responses.
    let inbox: String

    init(inbox: String) {
        self.inbox = inbox
    }

    /// Sets the closure to call when the library has closed the connection.
    func onEnd(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = body }
    }

    /// Called on the library's thread when it has closed the connection.
    func end() { state.withLock(\.onEnd)?() }

    /// Adds a request.
    ///
    /// - Returns: Its number.
    func add(_ consumer: String?, _ handler: @escaping NATSConnection.ResponseHandler) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.handlers[state.last] = handler
            if let consumer { state.pulls[consumer, default: []].append(state.last) }
            return state.last
        }
    }

    /// Removes a request; later responses are ignored.
    func remove(_ number: UInt64) {
        state.withLock { state in
            state.handlers[number] = nil
            for (consumer, numbers) in state.pulls where numbers.contains(number) {
                let others = numbers.filter { $0 != number }
                state.pulls[consumer] = others.isEmpty ? nil : others
            }
        }
    }

    /// The number of the request for a message: the last token of its subject or, for a stored message, which keeps its original
    /// subject, the oldest request for its consumer.
    func number(_ subject: String, _ reply: String) -> UInt64? {
        if subject.hasPrefix(inbox) { return UInt64(subject.dropFirst(inbox.utf8.count + 1)) }
        guard let consumer = NATSLease(reply)?.consumer else { return nil }
        return state.withLock { $0.pulls[consumer]?.first }
    }

    /// Passes a response to its request; ignores it if the request has ended.
    func take(_ number: UInt64, _ message: NATSMessage) {
        guard let handler = state.withLock({ $0.handlers[number] }), handler(message) else { return }
        remove(number)
    }
}
