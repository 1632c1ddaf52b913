// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities
internal import Synchronization

/// A stand-in for a used gate of `sensor/1`, which answers with the readings that the test gives it.
public final class SensorDouble: Sendable {
    private let history: Mutex<ReadingHistory>

    /// Starts with some readings; the readings of each sensor must be in time order.
    public init(_ readings: [SensorReading] = []) {
        var history = ReadingHistory(capacity: 10_000)
        history.append(readings)
        self.history = Mutex(history)
    }

    /// Adds readings.
    public func append(_ readings: [SensorReading]) {
        history.withLock { $0.append(readings) }
    }

    /// The closure that answers in the gate's place.
    public var double: GateDoubles.Double {
        { [self] operation, arguments throws(PluginError) in
            let history = history.withLock(\.self)
            let readings: [SensorReading]
            switch operation {
            case "latest":
                if let sensor = arguments["sensor"]?.string {
                    readings = [try history.latest(of: sensor)]
                } else {
                    readings = history.latest
                }
            case "range":
                let range = try GateDoubles.checked { () throws(ConnectorError) in
                    try SensorRange(json: arguments["range"] ?? .null)
                }
                readings = try history.readings(in: range)
            default: throw GateDoubles.unsupported(operation)
            }
            return .array(readings.map(\.json))
        }
    }
}
