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
        var events = Events()
    }

    /// The closures that inform the owner, called on the library's thread.
    struct Events: Sendable {
        /// The library has closed the connection.
        var ended: @Sendable () -> Void = {}
        /// A leased message has arrived that no request awaits any longer; receives its reply subject.
        var unclaimed: @Sendable (String) -> Void = { _ in }
    }

    private let state = Mutex(State())
    /// The prefix of the subjects of responses.
    let inbox: String

    init(inbox: String) {
        self.inbox = inbox
    }

    /// Sets the closures to call.
    func on(_ events: Events) {
        state.withLock { $0.events = events }
    }

    /// Called on the library's thread when it has closed the connection.
    func end() { state.withLock(\.events).ended() }

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

    /// Passes a message to its request.
    ///
    /// A response to a request that has ended is ignored. A leased message is not: no host would get it before its lease expires.
    func take(_ message: NATSMessage, subject: String) {
        if subject.hasPrefix(inbox) {
            if let number = UInt64(subject.dropFirst(inbox.utf8.count + 1)) { _ = take(message, number) }
        } else if let consumer = NATSLease(message.reply)?.consumer {
            // A stored message keeps its original subject. The oldest request for the consumer's messages gets it.
            var message = message
            message.subject = subject
            let number = state.withLock { $0.pulls[consumer]?.first }
            if let number, take(message, number) { return }
            state.withLock(\.events).unclaimed(message.reply)
        }
    }

    /// Passes a message to a request.
    ///
    /// - Returns: Whether the request has not ended.
    private func take(_ message: NATSMessage, _ number: UInt64) -> Bool {
        guard let handler = state.withLock({ $0.handlers[number] }) else { return false }
        if handler(message) { remove(number) }
        return true
    }
}
