// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities

/// `sensor/1` at a used gate.
public struct UsedSensor: UsedCapability {
    private let gate: UsedGate

    /// Wraps a used gate that offers `sensor/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Reads the newest reading of each sensor.
    public func latest() async throws(PluginError) -> [SensorReading] {
        try await readings("latest", [:])
    }

    /// Reads the newest reading of one sensor; throws `notFound` if there is no such sensor.
    public func latest(of sensor: String) async throws(PluginError) -> SensorReading {
        guard let reading = try await readings("latest", ["sensor": .string(sensor)]).first else {
            throw PluginError(.notFound, "there is no reading of \"\(sensor)\"")
        }
        return reading
    }

    /// Reads the readings of a range, oldest first; throws `notFound` if there is no such sensor.
    public func readings(in range: SensorRange) async throws(PluginError) -> [SensorReading] {
        try await readings("range", ["range": range.json])
    }

    private func readings(
        _ operation: String,
        _ arguments: JSONObject
    ) async throws(PluginError) -> [SensorReading] {
        try await gate.call(operation, arguments) { json throws(ConnectorError) in
            try SensorReading.readings(json: json)
        }
    }
}
