// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `analytics/1`. Implement ``deliver(_:)``; every operation of the capability calls it.
public protocol AnalyticsPlugin: Plugin {
    /// Delivers events, and returns an answer for each, in the same order.
    ///
    /// - Throws: A ``PluginError`` if no event was delivered, and no event caused the failure.
    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer]

    /// Sends the events that the adapter still holds; does nothing by default.
    func flush() async throws
}

extension AnalyticsPlugin {
    /// Does nothing, which suits an adapter that holds no events.
    public func flush() async throws {}

    /// The operation `track`.
    public func track(event: JSONValue) async throws { try await deliver(event, as: .track) }

    /// The operation `identify`.
    public func identify(event: JSONValue) async throws { try await deliver(event, as: .identify) }

    /// The operation `screen`.
    public func screen(event: JSONValue) async throws { try await deliver(event, as: .screen) }

    /// The operation `page`.
    public func page(event: JSONValue) async throws { try await deliver(event, as: .page) }

    /// The operation `group`.
    public func group(event: JSONValue) async throws { try await deliver(event, as: .group) }

    /// The operation `alias`.
    public func alias(event: JSONValue) async throws { try await deliver(event, as: .alias) }

    /// The operation `deliver`: rejects events that it cannot read, and delivers the others.
    public func deliver(events: JSONValue) async throws -> JSONValue {
        try await answers(to: events, named: "events") { json, path throws(ConnectorError) in
            try AnalyticsEvent(json: json, path: path)
        } deliver: { events in
            try await deliver(events)
        }
    }

    private func deliver(_ json: JSONValue, as type: AnalyticsEvent.Kind) async throws {
        _ = try await acceptedAnswer(to: [AnalyticsEvent(json: json, as: type)]) { try await deliver($0) }
    }
}
