// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest
internal import Synchronization

/// Records what users do, wherever `connectors.json` says, in the terms of the Segment specification.
///
/// ```swift
/// let analytics = try host.analytics("analytics")
/// try await analytics.track("Order Completed", ["total": 42.5])
/// ```
///
/// Every call returns when the vendor has taken the event, and throws a `ConnectorError` otherwise: what the vendor said, in the
/// codes of <doc:Errors>; `partial` if only some of the vendors of a composite took it; `invalid` for an event that breaks the
/// specification; `not-open`, `timed-out`; `cancelled` if the caller's own task was. The `timeout` of the options covers all of
/// that, a wait for the gate's turn and the adapter's retries included. It returns how each vendor fared, also those whose failure
/// is forgiven.
///
/// What is said of an event is JSON, or any `Encodable` value that becomes an object: see ``track(_:properties:options:)``.
///
/// To try again, make the event once and send it as often as it takes: ``stamped(_:)``.
///
/// Remembers who the user is between calls; make one client for each user. From any thread.
public final class AnalyticsClient: Sendable {
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

    /// The user that events are tied to: nil until ``identify(_:traits:)``, or until it is set.
    public var userId: String? {
        get { identity.withLock(\.userId) }
        set { identity.withLock { $0.userId = newValue } }
    }

    /// What ties events together while nobody knows the user: random, until it is set.
    public var anonymousId: String {
        get { identity.withLock(\.anonymousId) }
        set { identity.withLock { $0.anonymousId = newValue } }
    }

    /// Records that the user did something.
    @discardableResult
    public func track(
        _ event: String,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        try await send(stamped(.track(event, properties)), options: options)
    }

    /// Says who the user is, from now on.
    @discardableResult
    public func identify(
        _ userId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        self.userId = userId
        var event = AnalyticsEvent(.identify)
        event.traits = traits
        return try await send(stamped(event), options: options)
    }

    /// Records that the user saw a screen of an application.
    @discardableResult
    public func screen(
        _ name: String,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        var event = AnalyticsEvent(.screen)
        event.name = name
        event.properties = properties
        return try await send(stamped(event), options: options)
    }

    /// Records that the user saw a page of a site.
    @discardableResult
    public func page(
        _ name: String,
        category: String? = nil,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        var event = AnalyticsEvent(.page)
        event.name = name
        event.category = category
        event.properties = properties
        return try await send(stamped(event), options: options)
    }

    /// Puts the user into a group.
    @discardableResult
    public func group(
        _ groupId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        var event = AnalyticsEvent(.group)
        event.groupId = groupId
        event.traits = traits
        return try await send(stamped(event), options: options)
    }

    /// Says that the user was known by another identity before.
    @discardableResult
    public func alias(
        _ userId: String,
        previousId: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        var event = AnalyticsEvent(.alias)
        event.previousId = previousId ?? self.userId ?? anonymousId
        self.userId = userId
        return try await send(stamped(event), options: options)
    }

    /// An event as this client would send it now: with its user unless it names one, and the time unless it has one.
    ///
    /// Such an event is the same however often it is sent, so that it counts once:
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

    /// Sends one event as it is; its `messageId` tells the vendor that two are the same.
    ///
    /// Through a composite of the policy `all` every child gets it again, those that took it before, too: vendors drop what they
    /// know by its `messageId`.
    ///
    /// - Returns: How each vendor fared.
    @discardableResult
    public func send(
        _ event: AnalyticsEvent,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        try event.check()
        let arguments = CallArguments(texts: [("event", event.json.utf8())])
        return try await target.call(event.type.rawValue, arguments, options).outcomes
    }

    /// Delivers a batch, and answers for each event in its order.
    ///
    /// Through a composite of the policy `all` an event is accepted if every required child accepted it, or as many as the quorum
    /// says.
    public func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        try await target.deliver(events.map(\.json), as: "events", options)
    }

    /// Sends whatever adapters still hold.
    ///
    /// - Returns: How each vendor fared.
    @discardableResult
    public func flush(options: CallOptions = CallOptions()) async throws(ConnectorError) -> [CallOutcome] {
        try await target.call("flush", CallArguments(texts: []), options).outcomes
    }
}
