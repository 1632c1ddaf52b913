// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities
internal import Synchronization

/// A stand-in for a used gate of `analytics/1`, which keeps the events.
///
/// ```swift
/// let events = AnalyticsDouble()
/// let plugin = try Shop(configuration: PluginConfiguration([:]), host: Host(gates: GateDoubles(["events": events.double])))
/// ```
public final class AnalyticsDouble: Sendable {
    private let received = Mutex<[AnalyticsEvent]>([])

    /// Starts without events.
    public init() {}

    /// The events so far, oldest first.
    public var events: [AnalyticsEvent] { received.withLock(\.self) }

    /// The closure that answers in the gate's place.
    public var double: GateDoubles.Double {
        { [self] operation, arguments throws(PluginError) in
            guard let type = AnalyticsEvent.Kind(rawValue: operation), let event = arguments["event"] else {
                throw GateDoubles.unsupported(operation)
            }
            try GateDoubles.checked { () throws(ConnectorError) in
                let event = try AnalyticsEvent(json: event, as: type)
                received.withLock { $0.append(event) }
            }
            return .null
        }
    }
}
