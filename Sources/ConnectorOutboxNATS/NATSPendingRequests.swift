// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// The requests in progress on one connection, by number.
final class NATSPendingRequests: Sendable {
    private struct State {
        var handlers: [UInt64: NATSConnection.ResponseHandler] = [:]
        /// Where each request was sent.
        var subjects: [UInt64: String] = [:]
        /// The requests for a consumer's messages, oldest first.
        var pulls: [String: [UInt64]] = [:]
        var last: UInt64 = 0
        /// When something last arrived.
        var arrival: UInt64 = 0
        var events = Events()
    }

    /// The closures that inform the owner, called on the library's thread.
    struct Events: Sendable {
        /// The library has closed the connection of this number.
        var ended: @Sendable (UInt64) -> Void = { _ in }
        /// The server lets the connection of this number receive nothing; receives the server's words.
        var deaf: @Sendable (UInt64, String) -> Void = { _, _ in }
        /// A leased message has arrived that no request awaits any longer; receives its reply subject.
        var unclaimed: @Sendable (String) -> Void = { _ in }
    }

    private let state = Mutex(State())
    private let clock = SystemHostClock()
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
    func end(_ connection: UInt64) { state.withLock(\.events).ended(connection) }

    /// Called on the library's thread when the server has denied something: a request to the subject in its words, or the subscription,
    /// which leaves every request without a response.
    func deny(_ words: String, _ connection: UInt64) {
        let isDeaf = words.hasPrefix("Permissions Violation for Subscription")
        let parts = words.split(separator: "\"", omittingEmptySubsequences: false)
        let subject = parts.count > 1 ? String(parts[1]) : ""
        let now = clock.now()
        let (numbers, events) = state.withLock { state -> ([UInt64], Events) in
            if !isDeaf { state.arrival = now }
            return (state.subjects.filter { isDeaf || $0.value == subject }.map(\.key), state.events)
        }
        // First, so that whoever repeats a request finds no connection.
        if isDeaf { events.deaf(connection, words) }
        for number in numbers { _ = take(NATSMessage(denial: words), number) }
    }

    /// When something last arrived, by the clock of the system; 0 for never.
    var arrival: UInt64 { state.withLock(\.arrival) }

    /// Adds a request to a subject.
    ///
    /// - Returns: Its number.
    func add(_ subject: String, _ consumer: String?, _ handler: @escaping NATSConnection.ResponseHandler) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.handlers[state.last] = handler
            state.subjects[state.last] = subject
            if let consumer { state.pulls[consumer, default: []].append(state.last) }
            return state.last
        }
    }

    /// Removes a request; later responses are ignored.
    func remove(_ number: UInt64) {
        state.withLock { state in
            state.handlers[number] = nil
            state.subjects[number] = nil
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
        let now = clock.now()
        state.withLock { $0.arrival = now }
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
