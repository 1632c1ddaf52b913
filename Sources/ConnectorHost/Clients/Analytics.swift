// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorOutbox

/// The `analytics/1` interface an application depends on: an ``AnalyticsClient`` in production, `InMemoryAnalytics` in
/// tests.
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

    /// The identity of events without a known user.
    var anonymousId: String { get nonmutating set }

    /// Fills in the user and the current time if the event lacks them.
    func stamped(_ event: AnalyticsEvent) -> AnalyticsEvent

    /// Sends an event unchanged.
    ///
    /// - Throws: `invalid` for an event that breaks the specification; otherwise as ``AnalyticsClient`` describes.
    @discardableResult
    func send(_ event: AnalyticsEvent, options: CallOptions) async throws(ConnectorError) -> Receipt

    /// Delivers a batch and returns one answer per event, in order; one that ``send(_:options:)`` would refuse is rejected by itself.
    func deliver(
        _ events: [AnalyticsEvent],
        options: CallOptions
    ) async throws(ConnectorError) -> [DeliveryAnswer]

    /// Sends the events still held.
    ///
    /// - Returns: Each vendor's outcome.
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

    /// Identifies the user of all later events; an id that is refused changes nothing.
    @discardableResult
    public func identify(
        _ userId: String,
        traits: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        var event = AnalyticsEvent(.identify)
        event.traits = traits
        return try await send(event, as: userId, options)
    }

    /// Records that the user saw a screen of the application.
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

    /// Links the user to an earlier identity; an id that is refused changes nothing.
    @discardableResult
    public func alias(
        _ userId: String,
        previousId: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        var event = AnalyticsEvent(.alias)
        event.previousId = previousId ?? self.userId ?? anonymousId
        return try await send(event, as: userId, options)
    }

    /// Sends an event of a user, who is then the user of all later events.
    private func send(
        _ event: AnalyticsEvent,
        as userId: String,
        _ options: CallOptions
    ) async throws(ConnectorError) -> Receipt {
        var event = event
        // Set here, because another task may change the client's user meanwhile.
        (event.userId, event.anonymousId) = (userId, anonymousId)
        event = stamped(event)
        try ClientTarget.checked(for: self) { () throws(ConnectorError) in try event.check() }
        self.userId = userId
        return try await send(event, options: options)
    }

    /// Sends an event unchanged, with the default timeout.
    @discardableResult
    public func send(_ event: AnalyticsEvent) async throws(ConnectorError) -> Receipt {
        try await send(event, options: CallOptions())
    }

    /// Delivers a batch with the default timeout and returns one answer per event, in order.
    public func deliver(_ events: [AnalyticsEvent]) async throws(ConnectorError) -> [DeliveryAnswer] {
        try await deliver(events, options: CallOptions())
    }

    /// Sends the events still held, with the default timeout.
    @discardableResult
    public func flush() async throws(ConnectorError) -> [CallOutcome] { try await flush(options: CallOptions()) }
}
