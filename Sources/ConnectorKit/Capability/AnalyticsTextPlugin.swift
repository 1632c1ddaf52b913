// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `analytics/1` whose vendor takes events as the host sends them, so that the adapter passes them on
/// unparsed.
///
/// A batch whose events are all complete and in plain form arrives as text; any other batch arrives as
/// ``AnalyticsEvent``s.
public protocol AnalyticsTextPlugin: AnalyticsPlugin {
    /// Delivers events, and returns an answer for each, in the same order.
    ///
    /// - Throws: A ``PluginError`` if no event was delivered, and no event caused the failure.
    func deliver(_ events: [AnalyticsEventText]) async throws -> [DeliveryAnswer]
}

extension AnalyticsTextPlugin {
    /// The operation `deliver`: rejects events that it cannot read, and delivers the others.
    public func deliver(events: JSONText) async throws -> [UInt8] {
        guard let texts = AnalyticsEventText.events(of: events.utf8), !texts.isEmpty else {
            return Line.encode(try await deliver(events: try Line.argument(events.utf8, "events") as JSONValue))
        }
        let answers = try await deliver(texts)
        guard answers.count == texts.count else {
            throw PluginError(.failed, "the adapter gave \(answers.count) answers for \(texts.count) events")
        }
        return DeliveryAnswer.text(of: answers)
    }
}
