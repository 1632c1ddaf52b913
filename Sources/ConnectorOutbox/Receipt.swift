// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The proof that an event is safe, and the way to learn what becomes of it.
///
/// The event is in the outbox of each of the ``connectors``, on stable storage, and is delivered from there at least once,
/// also by a later process. Connectors whose deliveries are direct have had it already: ``outcomes`` tells how that went.
public struct Receipt: Sendable {
    /// The event's id: the vendors' key to recognise a repetition.
    public let id: String
    /// The connectors that get the event from the outbox; none if all of them are direct.
    public let connectors: [String]
    /// How the connectors fared that get the event directly.
    public let outcomes: [CallOutcome]
    private let outbox: Outbox?

    /// How the event reaches each vendor, by the connector's path.
    ///
    /// What is `direct` has been tried already, with the result in ``outcomes``; what is `queued` is safe, and ``changes`` and
    /// ``delivered(within:)`` tell what becomes of it. A connector whose full outbox dropped the event has neither.
    public var deliveryModes: [String: DeliveryMode] {
        let queued = connectors.map { ($0, DeliveryMode.queued) }
        return Dictionary(outcomes.map { ($0.connector, DeliveryMode.direct) } + queued) { $1 }
    }

    /// - Parameter outbox: Knows what becomes of the event; nil if all of its connectors are direct.
    package init(id: String, connectors: [String], outcomes: [CallOutcome], outbox: Outbox?) {
        self.id = id
        self.connectors = connectors
        self.outcomes = outcomes
        self.outbox = outbox
    }

    /// What becomes of the event: first how it stands at each connector, then every change, until all are final.
    ///
    /// What another process on the same outbox makes of the event follows within a second, without its failed attempts. On NATS a host
    /// does not learn of another host's deliveries. The sequence is for one consumer. It also ends when the host closes.
    public var changes: some AsyncSequence<DeliveryChange, Never> & Sendable {
        let outbox = outbox
        return AsyncStream { continuation in
            guard let outbox, !connectors.isEmpty else { return continuation.finish() }
            outbox.follow(id, at: connectors, continuation)
        }
    }

    /// Waits until every connector has delivered the event.
    ///
    /// - Parameter limit: The longest wait; nil for none.
    /// - Throws: `timed-out` if the vendors do not have it by then: it is still safe, and is delivered later; `partial`,
    ///   with the outcome at each connector, if it is a dead letter or was dropped somewhere; `cancelled` if the caller's
    ///   task was cancelled; `not-open` if the host closes first.
    public func delivered(within limit: Duration? = nil) async throws(ConnectorError) {
        guard let outbox, !connectors.isEmpty else { return }
        var last: [String: DeliveryChange] = [:]
        let isComplete = await outbox.limited(to: limit) {
            var latest: [String: DeliveryChange] = [:]
            for await change in changes { latest[change.connector] = change }
            return latest
        }
        guard let latest = isComplete else {
            throw ConnectorError(
                Task.isCancelled ? .cancelled : .timedOut,
                "the event \(id) is not delivered yet",
                fix: "it stays in the outbox: connector-host outbox explain \(id)",
                isRetryable: true
            )
        }
        last = latest
        let failures = connectors.map { connector in
            let change = last[connector]
            return CallOutcome(
                connector,
                error: change?.state == .delivered
                    ? nil
                    : change?.error
                        ?? ConnectorError(.notOpen, "the host closed before the delivery", connector: connector)
            )
        }
        guard failures.contains(where: { !$0.isSuccess }) else { return }
        let isClosed = connectors.contains { !(last[$0]?.state.isFinal ?? false) }
        var error = ConnectorError(
            isClosed ? .notOpen : .partial,
            "the event \(id) was not delivered to \(failures.filter { !$0.isSuccess }.map(\.connector).joined(separator: ", "))",
            fix: "see why: connector-host outbox explain \(id)",
            isRetryable: isClosed
        )
        error.outcomes = failures
        throw error
    }
}
