// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `sensor/1`. Its manifest names the service `events/1`, and omits the operations that it cannot do.
public protocol SensorPlugin: Plugin {
    /// The newest reading of each sensor.
    ///
    /// - Parameter sensor: The requested sensor; nil for all.
    /// - Throws: A ``PluginError`` of status `notFound` if there is no such sensor.
    func latest(of sensor: String?) async throws -> [SensorReading]

    /// The readings of one sensor in a range, oldest first.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` if there is no such sensor.
    func range(_ range: SensorRange) async throws -> [SensorReading]
}

extension SensorPlugin {
    /// The operation `latest`.
    public func latest(sensor: String?) async throws -> JSONValue {
        .array(try await latest(of: sensor).map(\.json))
    }

    /// The operation `range`.
    public func range(range: JSONValue) async throws -> JSONValue {
        .array(try await self.range(SensorRange(json: range)).map(\.json))
    }
}

extension Events {
    /// Emits new readings in one event, `SensorReading.event`.
    ///
    /// - Throws: A ``PluginError`` if they exceed the size of one event, which is about 400 readings.
    public func emit(_ readings: [SensorReading]) throws(PluginError) {
        try emit(SensorReading.event, .array(readings.map(\.json)))
    }
}
