// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorOutbox

/// What an application needs of `analytics/1`: an ``AnalyticsClient`` of a host, or `InMemoryAnalytics` in its tests.
///
/// ```swift
/// struct Checkout {
///     let analytics: any Analytics
///
///     func complete(_ order: Order) async throws {
///         try await analytics.track("Order Completed", properties: order)
///     }
/// }
/// ```
///
/// Properties are JSON, or any `Encodable` value that encodes as an object: see ``track(_:properties:options:)``.
public protocol Analytics: Sendable {
    /// The user of the events: nil until ``identify(_:traits:options:)`` or an assignment sets it.
    var userId: String? { get nonmutating set }

    /// The identity of the events while the user is unknown.
    var anonymousId: String { get nonmutating set }

    /// Fills in the user and the current time, where the event has none of its own.
    func stamped(_ event: AnalyticsEvent) -> AnalyticsEvent

    /// Sends an event as it is.
    ///
    /// - Throws: `invalid` for an event that breaks the specification; otherwise as ``AnalyticsClient`` says.
    @discardableResult
    func send(_ event: AnalyticsEvent, options: CallOptions) async throws(ConnectorError) -> Receipt

    /// Delivers a batch, with one answer for each event, in order.
    func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions
    ) async throws(ConnectorError) -> [DeliveryAnswer]

    /// Sends the events that are still held.
    ///
    /// - Returns: The outcome of each vendor.
    @discardableResult
    func flush(options: CallOptions) async throws(ConnectorError) -> [CallOutcome]
}

extension Analytics {
    /// Records an action of the user.
    @discardableResult
    public func track(
        _ event: String,
        _ properties: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await send(stamped(.track(event, properties)), options: options)
    }

    /// Identifies the user from now on.
    @discardableResult
    public func identify(
        _ userId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
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
    ) async throws(ConnectorError) -> Receipt {
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
    ) async throws(ConnectorError) -> Receipt {
        var event = AnalyticsEvent(.page)
        event.name = name
        event.category = category
        event.properties = properties
        return try await send(stamped(event), options: options)
    }

    /// Adds the user to a group.
    @discardableResult
    public func group(
        _ groupId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        var event = AnalyticsEvent(.group)
        event.groupId = groupId
        event.traits = traits
        return try await send(stamped(event), options: options)
    }

    /// Links the user to an earlier identity.
    @discardableResult
    public func alias(
        _ userId: String,
        previousId: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        var event = AnalyticsEvent(.alias)
        event.previousId = previousId ?? self.userId ?? anonymousId
        self.userId = userId
        return try await send(stamped(event), options: options)
    }

    /// Sends an event as it is, with the default timeout.
    @discardableResult
    public func send(_ event: AnalyticsEvent) async throws(ConnectorError) -> Receipt {
        try await send(event, options: CallOptions())
    }

    /// Delivers a batch with the default timeout, with one answer for each event, in order.
    public func deliver(_ events: [AnalyticsEvent]) async throws(ConnectorError) -> [DeliveryAnswer] {
        try await deliver(events, options: CallOptions())
    }

    /// Sends the events that are still held, with the default timeout.
    @discardableResult
    public func flush() async throws(ConnectorError) -> [CallOutcome] { try await flush(options: CallOptions()) }
}
