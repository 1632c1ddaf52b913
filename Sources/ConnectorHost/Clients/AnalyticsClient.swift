// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorOutbox
internal import Synchronization

/// Records user actions, in the terms of the Segment specification, through a connector of `connectors.json`.
///
/// ```swift
/// let analytics = try host.analytics("analytics")
/// try await analytics.track("Order Completed", ["total": 42.5])
/// ```
///
/// A call returns once the event is in the outbox, on stable storage, also in a cancelled task: that only ends the wait
/// for room in a full outbox. The outbox then delivers it to each vendor at least once, even after an outage: see
/// <doc:Outbox>. The ``Receipt`` tracks the delivery. A call throws `storage` if the event could not be stored, `invalid`
/// for an event that breaks the specification or that adapters could not read, and `unsupported` for one that no plugin of
/// the connector takes.
///
/// With `"delivery": "direct"` in `connectors.json`, a call returns once the vendor has accepted the event. The receipt
/// holds each vendor's outcome, including tolerated failures. The call then throws the vendor's own error with a code
/// from <doc:Errors>; `partial` if only some vendors of a composite accepted the event; `not-open`; `timed-out`;
/// `cancelled` if the caller's task was cancelled. The `timeout` of the options covers the whole call, including
/// queueing at the gate and the adapter's retries.
///
/// ``Analytics`` declares the named calls. Code that takes an `any Analytics` can be tested without a host.
///
/// To retry, stamp the event once with ``stamped(_:)``, then send the same event again.
///
/// The client remembers its user between calls; create one client per user. Use it from any thread.
public final class AnalyticsClient: Analytics {
    let target: ClientTarget
    private let identity: Mutex<Identity>

    private struct Identity {
        var userId: String?
        var anonymousId: String
    }

    init(_ target: ClientTarget) {
        self.target = target
        identity = Mutex(Identity(userId: nil, anonymousId: RandomIdentifier.uuid()))
    }

    /// The user of the events: nil until ``identify(_:traits:options:)`` or an assignment sets it.
    public var userId: String? {
        get { identity.withLock(\.userId) }
        set { identity.withLock { $0.userId = newValue } }
    }

    /// The identity of events without a known user: random unless set.
    public var anonymousId: String {
        get { identity.withLock(\.anonymousId) }
        set { identity.withLock { $0.anonymousId = newValue } }
    }

    /// Fills in this client's user and the current time if the event lacks them.
    ///
    /// A stamped event keeps its identity however often it is sent, so vendors count it once:
    ///
    /// ```swift
    /// let event = analytics.stamped(.track("Order Completed", ["total": 42.5]))
    /// do throws(ConnectorError) {
    ///     try await analytics.send(event)
    /// } catch {
    ///     guard error.isRetryable else { throw error }
    ///     try await Task.sleep(for: error.retryAfter ?? .seconds(1))
    ///     try await analytics.send(event)
    /// }
    /// ```
    public func stamped(_ event: AnalyticsEvent) -> AnalyticsEvent {
        var event = event
        if event.userId == nil, event.anonymousId == nil {
            let identity = identity.withLock(\.self)
            event.userId = identity.userId
            event.anonymousId = identity.anonymousId
        }
        event.timestamp = event.timestamp ?? target.now
        return event
    }

    /// Sends an event unchanged. Its `messageId` lets the vendor recognize duplicates.
    ///
    /// The outbox stores a `messageId` once, and throws `conflict` if only other connectors have it, with another event. Direct
    /// delivery through a composite with the policy `all` sends the event to every child again, even to those that accepted it
    /// before: vendors discard a `messageId` they have seen.
    @discardableResult
    public func send(
        _ event: AnalyticsEvent,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try target.checked { () throws(ConnectorError) in try event.check() }
        return try await target.send(
            id: event.messageId,
            event.type.rawValue,
            event.utf8(),
            as: "event",
            options
        )
    }

    /// Delivers a batch and returns one answer per event, in order.
    ///
    /// An event that ``send(_:options:)`` would refuse is rejected by itself, and the others are delivered. A composite with the policy
    /// `all` accepts an event if every required child accepts it, or as many children as its quorum demands.
    public func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        let batch = CheckedBatch(events) { event, index throws(ConnectorError) -> AnalyticsEvent in
            try target.checked { () throws(ConnectorError) in try event.check("events[\(index)]") }
            return event
        }
        return try await target.deliver(batch, as: "events", options) { AnalyticsEvent.utf8($0) }
    }

    /// Sends the events adapters still hold.
    ///
    /// - Returns: Each vendor's outcome.
    @discardableResult
    public func flush(options: CallOptions = CallOptions()) async throws(ConnectorError) -> [CallOutcome] {
        try await target.call("flush", CallArguments(texts: []), options).outcomes
    }
}
