// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A plugin of `analytics/1`. Write ``deliver(_:)``; the operations of the manifest follow from it.
public protocol AnalyticsPlugin: Plugin {
    /// Delivers events, and answers for each one in their order.
    ///
    /// - Throws: A ``PluginError`` if nothing was delivered for a reason that no event is to blame for.
    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer]

    /// Sends whatever the adapter still holds; does nothing unless it is written.
    func flush() async throws
}

extension AnalyticsPlugin {
    /// Does nothing, which suits every adapter that holds nothing.
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

    /// The operation `deliver`: an event that cannot be read is rejected, and the others are delivered.
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
