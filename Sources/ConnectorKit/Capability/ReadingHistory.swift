// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorCapabilities

/// The latest readings of each sensor, up to a capacity. A plugin of `sensor/1` answers `latest` and `range` from it.
public struct ReadingHistory: Sendable {
    private var rings: [(sensor: String, ring: Ring)] = []
    private let capacity: Int

    /// A ring buffer of one sensor's readings; when it is full, a new reading overwrites the oldest.
    private struct Ring: Sendable {
        var readings: [SensorReading] = []
        /// The index of the oldest reading once the ring is full.
        var start = 0

        var inOrder: ArraySlice<SensorReading> { readings[start...] + readings[..<start] }
        var last: SensorReading? { start == 0 ? readings.last : readings[start - 1] }

        mutating func append(_ reading: SensorReading, capacity: Int) {
            guard readings.count == capacity else { return readings.append(reading) }
            readings[start] = reading
            start = (start + 1) % capacity
        }
    }

    /// Makes an empty history.
    ///
    /// - Parameter capacity: The most readings to keep per sensor, at least 1.
    public init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Adds readings; the readings of each sensor must be in time order.
    public mutating func append(_ readings: [SensorReading]) {
        for reading in readings {
            if let index = rings.firstIndex(where: { $0.sensor == reading.sensor }) {
                rings[index].ring.append(reading, capacity: capacity)
            } else {
                var ring = Ring()
                ring.append(reading, capacity: capacity)
                rings.append((reading.sensor, ring))
            }
        }
    }

    /// The newest reading of each sensor.
    public var latest: [SensorReading] { rings.compactMap(\.ring.last) }

    /// The newest reading of a sensor.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` that lists the known sensors.
    public func latest(of sensor: String) throws(PluginError) -> SensorReading {
        guard let reading = rings.first(where: { $0.sensor == sensor })?.ring.last else { throw unknown(sensor) }
        return reading
    }

    /// The newest readings of a range, oldest first.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` that lists the known sensors.
    public func readings(in range: SensorRange) throws(PluginError) -> [SensorReading] {
        guard let ring = rings.first(where: { $0.sensor == range.sensor })?.ring else { throw unknown(range.sensor) }
        let found = ring.inOrder.filter { reading in
            range.from.map { $0 <= reading.time } ?? true && range.to.map { reading.time <= $0 } ?? true
        }
        return Array(found.suffix(max(0, range.limit)))
    }

    private func unknown(_ sensor: String) -> PluginError {
        let known = rings.map(\.sensor).prefix(20).joined(separator: ", ")
        return PluginError(.notFound, "there is no sensor \"\(sensor.prefix(40))\"; known: \(known)")
    }
}
