// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import Synchronization

/// The proof that an event is safe, and the way to learn what becomes of it.
///
/// The event is in the outbox of each of the ``connectors``, on stable storage, and is delivered from there at least once,
/// also by a later process. Connectors with direct delivery have already been called: ``outcomes`` tells how that went. Those
/// in ``dropped`` do not get it.
public struct Receipt: Sendable {
    /// The event's id: the vendors' key to recognize a repetition.
    public let id: String
    /// The connectors that get the event from the outbox; none if all of them are direct, or have dropped it.
    public let connectors: [String]
    /// The connectors whose outbox was full and, with `dropNewest`, did not store the event.
    public let dropped: [String]
    /// The outcomes at the connectors that get the event directly.
    public let outcomes: [CallOutcome]
    private let outbox: Outbox?

    /// How the event reaches each vendor, by the connector's path.
    ///
    /// A `direct` delivery has already been tried, with the result in ``outcomes``. A `queued` one is safe: ``changes``
    /// and ``delivered(within:)`` report what becomes of it. A connector whose full outbox ``dropped`` the event has neither.
    public var deliveryModes: [String: DeliveryMode] {
        let queued = connectors.map { ($0, DeliveryMode.queued) }
        return Dictionary(outcomes.map { ($0.connector, DeliveryMode.direct) } + queued) { $1 }
    }

    /// Creates the receipt of an event.
    ///
    /// - Parameters:
    ///   - dropped: The connectors whose full outbox did not store the event.
    ///   - outbox: Knows what becomes of the event; nil if all of its connectors are direct.
    package init(
        id: String,
        connectors: [String],
        dropped: [String] = [],
        outcomes: [CallOutcome],
        outbox: Outbox?
    ) {
        self.id = id
        self.connectors = connectors
        self.dropped = dropped
        self.outcomes = outcomes
        self.outbox = outbox
    }

    /// Says that the event is lost, because every outbox that was to have it was full and no connector took it directly; nil if
    /// a connector has it, or gets it.
    package var loss: ConnectorError? {
        guard connectors.isEmpty, let first = dropped.first, !outcomes.contains(where: \.isSuccess) else { return nil }
        var error = DeliveryChange.turnedAway(at: first)
        if dropped.count > 1 { error.message += "; so did that of \(dropped.dropFirst().joined(separator: ", "))" }
        return error
    }

    /// What becomes of the event: first how it stands at each connector, then every change, until all are final.
    ///
    /// An event is called delivered, or dead, once the report counts it as such. Changes made by another process on the same outbox
    /// arrive within a second, without its failed attempts. On NATS, a host does not learn of another host's deliveries. The
    /// sequence is for one consumer. It also ends when the host closes, or the outbox cannot be read.
    public var changes: some AsyncSequence<DeliveryChange, Never> & Sendable {
        follow { _ in }
    }

    /// The changes of the event.
    ///
    /// - Parameter onFailure: Called with the error of an outbox that cannot be read, before the sequence ends.
    private func follow(onFailure: @escaping @Sendable (ConnectorError) -> Void) -> AsyncStream<DeliveryChange> {
        let outbox = outbox
        return AsyncStream { continuation in
            for connector in dropped {
                let error = DeliveryChange.turnedAway(at: connector)
                continuation.yield(DeliveryChange(connector, .dropped, error: error))
            }
            guard let outbox, !connectors.isEmpty else { return continuation.finish() }
            outbox.follow(id, at: connectors, continuation, onFailure: onFailure)
        }
    }

    /// Waits until every connector has delivered the event.
    ///
    /// - Parameter limit: The longest wait; nil for no limit.
    /// - Throws: `timed-out` if the vendors do not have it by then: it is still safe, and is delivered later; `partial`,
    ///   with the outcome at each connector, if it is a dead letter or was dropped somewhere; `cancelled` if the caller's
    ///   task was cancelled; `not-open` if the host closes first, or has closed: then it does not know what became of the event, even if
    ///   it has delivered it; the error of an outbox that cannot be read, such as `storage`.
    public func delivered(within limit: Duration? = nil) async throws(ConnectorError) {
        let connectors = connectors + dropped
        guard let outbox, !connectors.isEmpty else { return }
        let result = await outbox.limited(to: limit) {
            let failure = Mutex<ConnectorError?>(nil)
            var last: [String: DeliveryChange] = [:]
            for await change in follow(onFailure: { error in failure.withLock { $0 = error } }) {
                last[change.connector] = change
            }
            return (last, failure.withLock(\.self))
        }
        let isCancelled = Task.isCancelled
        let isOver = { (last: [String: DeliveryChange]) in connectors.allSatisfy { last[$0]?.state.isFinal ?? false } }
        // In a cancelled task the changes end early, as they do when the host closes.
        guard let (last, failure) = result, !isCancelled || isOver(last) else {
            throw ConnectorError(
                isCancelled ? .cancelled : .timedOut,
                "the event \(id) is not known to be delivered yet",
                fix: outbox.advice(
                    "it stays in the outbox: connector-host outbox explain \(id)",
                    inMemory: "it stays in the outbox, in the memory of this process: await the receipt again"
                ),
                isRetryable: !isCancelled
            )
        }
        let failures = connectors.map { connector -> CallOutcome in
            guard let change = last[connector] else {
                let error = ConnectorError(.notOpen, "not known: the host has closed", connector: connector)
                return CallOutcome(connector, error: error)
            }
            let closed = ConnectorError(.notOpen, "the host closed before the delivery", connector: connector)
            return CallOutcome(connector, error: change.state == .delivered ? nil : change.error ?? closed)
        }
        guard failures.contains(where: { !$0.isSuccess }) else { return }
        // Only an outbox that has stored the event can explain it.
        let isStored = failures.contains { !$0.isSuccess && !dropped.contains($0.connector) }
        let isClosed = !isOver(last)
        if isClosed, let failure { throw failure }
        let unknown = connectors.filter { last[$0] == nil }.joined(separator: ", ")
        let missing = failures.filter { !$0.isSuccess }.map(\.connector).joined(separator: ", ")
        let advice =
            isClosed
            ? outbox.advice(
                "what was not delivered stays in the outbox: connector-host outbox explain \(id)",
                inMemory:
                    "the outbox was in memory, and has ended with the host: send the event again if it may arrive twice"
            )
            : outbox.advice(
                "see why: connector-host outbox explain \(id)",
                inMemory: "see why: deadLetters(of:) of the host"
            )
        var error = ConnectorError(
            isClosed ? .notOpen : .partial,
            unknown.isEmpty
                ? "the event \(id) was not delivered to \(missing)"
                : "whether the event \(id) was delivered to \(unknown) is not known: the host has closed",
            fix: isStored ? advice : dropped.first.flatMap { DeliveryChange.turnedAway(at: $0).fix },
            cause: failures.compactMap(\.error?.description).joined(separator: "; ")
        )
        error.outcomes = failures
        throw error
    }
}

extension Receipt: CustomStringConvertible {
    /// One line: the id, and what every connector has made of the event, such as `order-7: queued for shop/crm; shop/mail: taken`.
    public var description: String {
        var parts = connectors.isEmpty ? [] : ["queued for \(connectors.joined(separator: ", "))"]
        parts += outcomes.map(\.description)
        if !dropped.isEmpty { parts.append("dropped by \(dropped.joined(separator: ", "))") }
        return "\(id): \(parts.joined(separator: "; "))"
    }
}
