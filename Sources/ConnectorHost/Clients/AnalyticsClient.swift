// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorOutbox
internal import Synchronization

/// Records what users do, in the terms of the Segment specification, through the connector that `connectors.json`
/// names.
///
/// ```swift
/// let analytics = try host.analytics("analytics")
/// try await analytics.track("Order Completed", ["total": 42.5])
/// ```
///
/// A call returns once the event is in the outbox, on stable storage; from there the vendors get it at least once, even if
/// they are away now: see <doc:Outbox>. The ``Receipt`` tells what becomes of it. A call throws `storage` if the event could
/// not be stored, and `invalid` for an event that breaks the specification.
///
/// Where `"delivery": "direct"` stands in `connectors.json`, a call returns once the vendor has taken the event, with the
/// outcome of each vendor in the receipt, tolerated failures included. It then throws the vendor's own error in the codes of
/// <doc:Errors>; `partial` if only some vendors of a composite took the event; `not-open`; `timed-out`; `cancelled` if the
/// caller's task was cancelled. The `timeout` of the options covers the whole call, including the wait for the gate's turn
/// and the adapter's retries.
///
/// ``Analytics`` has the calls by name. Code that takes an `any Analytics` is tested without a host.
///
/// To retry, make the event once with ``stamped(_:)``, and send it as often as needed.
///
/// The client remembers its user between calls; make one client for each user. Use it from any thread.
public final class AnalyticsClient: Analytics {
    private let target: ClientTarget
    private let identity: Mutex<Identity>

    private struct Identity {
        var userId: String?
        var anonymousId: String
    }

    init(_ target: ClientTarget) {
        self.target = target
        identity = Mutex(Identity(userId: nil, anonymousId: RandomIdentifier.uuid()))
    }

    /// The user of the events: nil until ``identify(_:traits:)`` or an assignment sets it.
    public var userId: String? {
        get { identity.withLock(\.userId) }
        set { identity.withLock { $0.userId = newValue } }
    }

    /// The identity of the events while the user is unknown: random, unless it is set.
    public var anonymousId: String {
        get { identity.withLock(\.anonymousId) }
        set { identity.withLock { $0.anonymousId = newValue } }
    }

    /// Fills in this client's user and the current time, where the event has none of its own.
    ///
    /// A stamped event stays the same event however often it is sent, so that it counts once:
    ///
    /// ```swift
    /// let event = analytics.stamped(.track("Order Completed", ["total": 42.5]))
    /// do throws(ConnectorError) {
    ///     try await analytics.send(event)
    /// } catch where error.isRetryable {
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

    /// Sends an event as it is. Its `messageId` lets the vendor recognise a repetition.
    ///
    /// The outbox stores a `messageId` once. Direct deliveries through a composite of the policy `all` send the event to
    /// every child again, even to those that took it before: vendors drop a `messageId` they know.
    @discardableResult
    public func send(
        _ event: AnalyticsEvent,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try event.check()
        return try await target.send(
            id: event.messageId,
            event.type.rawValue,
            event.utf8(),
            as: "event",
            options
        )
    }

    /// Delivers a batch, with one answer for each event, in order.
    ///
    /// A composite of the policy `all` accepts an event if every required child accepts it, or as many children as the
    /// quorum demands.
    public func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        try await target.deliver(AnalyticsEvent.utf8(events), count: events.count, as: "events", options)
    }

    /// Sends the events that adapters still hold.
    ///
    /// - Returns: The outcome of each vendor.
    @discardableResult
    public func flush(options: CallOptions = CallOptions()) async throws(ConnectorError) -> [CallOutcome] {
        try await target.call("flush", CallArguments(texts: []), options).outcomes
    }
}
