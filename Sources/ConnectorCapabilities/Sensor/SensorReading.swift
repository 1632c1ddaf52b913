// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// What a sensor measured at one moment.
///
/// ```json
/// {"sensor": "memory.available", "value": 20589264896, "unit": "By", "time": "2026-01-31T09:30:00.000Z", "quality": "good"}
/// ```
public struct SensorReading: Sendable, Hashable {
    /// The sensor's permanent name, unique within its connector, 1 to 128 bytes.
    public var sensor: String
    /// The measured number; nil if the sensor could not be read, and then the quality is ``Quality/bad``.
    public var value: Double?
    /// The unit as a UCUM code (ucum.org): `Cel`, `By`, `%`; `1` for a plain number. Never empty.
    public var unit: String
    /// When it was measured.
    public var time: Timestamp
    /// How far to trust the value.
    public var quality: Quality

    /// How far to trust a value; the raw value is the word in JSON.
    public enum Quality: String, Sendable, Hashable, CaseIterable {
        /// Measured and plausible.
        case good
        /// Measured, but doubtful: outside what the sensor can measure, or older than it should be.
        case uncertain
        /// Not measured; there is no value.
        case bad
    }

    /// The name of the event that carries new readings; its payload is an array of them.
    public static let event = "sensor-readings"

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - sensor: 1 to 128 bytes.
    ///   - value: A finite number; nil if the sensor could not be read, and then the quality is bad.
    ///   - unit: A UCUM code.
    ///   - time: When it was measured.
    ///   - quality: How far to trust the value.
    /// - Throws: A ``ConnectorError`` of code `invalid` if the reading has no unit or an invalid sensor name, or if its
    ///   value and quality contradict each other.
    public init(
        _ sensor: String,
        _ value: Double?,
        unit: String,
        at time: Timestamp,
        quality: Quality = .good
    ) throws(ConnectorError) {
        guard (1...128).contains(sensor.utf8.count) else {
            throw ConnectorError(
                .invalid,
                "\"\(sensor.prefix(40))\" is not a valid sensor name",
                fix: "use 1 to 128 bytes"
            )
        }
        guard !unit.isEmpty else {
            throw ConnectorError(
                .invalid,
                "the reading of \"\(sensor)\" has no unit",
                fix: "use a code of UCUM, such as Cel or By, and 1 for a plain number"
            )
        }
        guard (value == nil) == (quality == .bad), value?.isFinite ?? true else {
            throw ConnectorError(
                .invalid,
                "the reading of \"\(sensor)\" of \(quality.rawValue) quality has \(value.map { "the value \($0)" } ?? "no value")"
            )
        }
        self.sensor = sensor
        self.value = value
        self.unit = unit
        self.time = time
        self.quality = quality
    }

    /// Reads a reading.
    public init(json: JSONValue, path: String = "reading") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        let sensor = try reader.requiredString("sensor")
        guard let time = try reader.timestamp("time") else {
            throw ConnectorError(.invalid, "\(path).time is missing; the reading of \"\(sensor)\" needs one")
        }
        guard let quality = try reader.word("quality", as: Quality.self) else {
            throw ConnectorError(.invalid, "\(path).quality is missing; the reading of \"\(sensor)\" needs one")
        }
        try self.init(
            sensor,
            try reader.value("value", "a number") { $0.number },
            unit: try reader.string("unit") ?? "",
            at: time,
            quality: quality
        )
    }

    /// Reads the result of `latest` or `range`, or the payload of the event.
    public static func readings(json: JSONValue) throws(ConnectorError) -> [SensorReading] {
        guard json.array != nil else {
            throw ConnectorError(.invalid, "expected an array of readings, not \(json.kind)")
        }
        return try ModelReader(["readings": json], "answer").models("readings") { json, path throws(ConnectorError) in
            try SensorReading(json: json, path: path)
        }
    }

    /// The JSON form that operations return, and events carry.
    public var json: JSONValue {
        var object: JSONObject = ["sensor": .string(sensor)]
        object["value"] = value.map { JSONValue(number: $0) } ?? .null
        object["unit"] = .string(unit)
        object.set("time", time)
        object["quality"] = .string(quality.rawValue)
        return .object(object)
    }
}

extension JSONValue {
    /// Creates a number, as an integer if it is whole.
    fileprivate init(number: Double) {
        self = JSONValue.number(number).integer.map { .integer($0) } ?? .number(number)
    }
}
