// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
/// codes of <doc:Errors>; `invalid` for an event that breaks the specification; `not-open`, `timed-out`; `cancelled` if the caller's
/// own task was. The `timeout` of the options covers all of that, a wait for the gate's turn and the adapter's retries included.
///
/// What is said of an event is JSON, or any `Encodable` value that becomes an object: see ``track(_:properties:options:)``.
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
    public func track(
        _ event: String,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await send(.track, options) {
            $0.event = event
            $0.properties = properties
        }
    }

    /// Says who the user is, from now on.
    public func identify(
        _ userId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        self.userId = userId
        try await send(.identify, options) { $0.traits = traits }
    }

    /// Records that the user saw a screen of an application.
    public func screen(
        _ name: String,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await send(.screen, options) {
            $0.name = name
            $0.properties = properties
        }
    }

    /// Records that the user saw a page of a site.
    public func page(
        _ name: String,
        category: String? = nil,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await send(.page, options) {
            $0.name = name
            $0.category = category
            $0.properties = properties
        }
    }

    /// Puts the user into a group.
    public func group(
        _ groupId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await send(.group, options) {
            $0.groupId = groupId
            $0.traits = traits
        }
    }

    /// Says that the user was known by another identity before.
    public func alias(
        _ userId: String,
        previousId: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        let previous = previousId ?? self.userId ?? anonymousId
        self.userId = userId
        try await send(.alias, options) { $0.previousId = previous }
    }

    /// Sends one event as it is; its `messageId` tells the vendor that two are the same.
    public func send(_ event: AnalyticsEvent, options: CallOptions = CallOptions()) async throws(ConnectorError) {
        try event.check()
        _ = try await target.call(event.type.rawValue, texts: [("event", event.json.utf8())], options)
    }

    /// Delivers a batch, and answers for each event in its order.
    public func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        let batch = JSONValue.array(events.map(\.json))
        return try await target.call("deliver", texts: [("events", batch.utf8())], options) {
            json throws(ConnectorError) in
            try DeliveryAnswer.answers(json: json, count: events.count)
        }
    }

    /// Sends whatever adapters still hold.
    public func flush(options: CallOptions = CallOptions()) async throws(ConnectorError) {
        _ = try await target.call("flush", texts: [], options)
    }

    private func send(
        _ type: AnalyticsEvent.Kind,
        _ options: CallOptions,
        _ fill: (inout AnalyticsEvent) -> Void
    ) async throws(ConnectorError) {
        let identity = identity.withLock(\.self)
        var event = AnalyticsEvent(type, userId: identity.userId, anonymousId: identity.anonymousId)
        fill(&event)
        try await send(event, options: options)
    }
}
