// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// `analytics/1` at a used gate.
///
/// A call returns once the vendor has the event: the outbox belongs to the application, and holds no plugin's events.
public struct UsedAnalytics: UsedCapability {
    private let gate: UsedGate

    /// Wraps a used gate that offers `analytics/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Records that a user did something.
    ///
    /// - Parameters:
    ///   - event: The action, such as `Order Completed`.
    ///   - properties: Facts about it.
    ///   - userId: The user's id in the application's database; this or `anonymousId` is required.
    ///   - anonymousId: The id of a user, or of a device, that the application does not know yet.
    public func track(
        _ event: String,
        _ properties: JSONObject = JSONObject(),
        userId: String? = nil,
        anonymousId: String? = nil
    ) async throws(PluginError) {
        try await send(.track(event, properties, userId: userId, anonymousId: anonymousId))
    }

    /// Sends an event of any type.
    public func send(_ event: AnalyticsEvent) async throws(PluginError) {
        _ = try await gate.call(event.type.rawValue, ["event": event.json])
    }
}
