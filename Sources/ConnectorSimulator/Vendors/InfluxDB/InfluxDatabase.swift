// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The points of one database.
struct InfluxDatabase: Sendable {
    /// The name of its retention policy, the only one.
    static let retentionPolicy = "autogen"
    /// The most points kept. A full database refuses every write, even one that merges, as InfluxDB does when its cache is full.
    static let capacity = 200_000

    /// The reason to drop a point of a full database.
    static let fullness = "engine: cache-max-memory-size exceeded: (\(capacity)/\(capacity))"

    /// The points of one measurement.
    private struct Measurement {
        /// The identity of a point, which no two points share.
        struct Key: Hashable {
            var time: Int64
            var series: ExactText
        }

        /// The points in order of arrival.
        var points: [InfluxPoint] = []
        /// The index of each point in ``points``.
        var places: [Key: Int] = [:]
    }

    private var measurements: [ExactText: Measurement] = [:]
    /// The type of each field of each measurement.
    private(set) var kinds: [ExactText: [ExactText: InfluxPoint.FieldKind]] = [:]
    /// The number of points.
    private var count = 0

    /// Adds a point, or merges its fields into the one of the same series and time.
    ///
    /// - Returns: The reason that the point was dropped, in the server's words; `nil` if it was stored.
    mutating func insert(_ point: InfluxPoint) -> String? {
        var point = point
        if let reason = Self.removeTime(from: &point) { return reason }
        var known = kinds[point.measurement] ?? [:]
        for (name, field) in point.fields.sorted(by: { $0.key < $1.key }) {
            if let kind = known[name], kind != field.kind {
                return "field type conflict: input field \"\(name.text)\" on measurement "
                    + "\"\(point.measurement.text)\" is type \(field.kind.rawValue), already exists as type "
                    + kind.rawValue
            }
            known[name] = field.kind
        }
        guard count < Self.capacity else { return Self.fullness }
        kinds[point.measurement] = known
        let key = Measurement.Key(time: point.time ?? 0, series: point.series)
        if let place = measurements[point.measurement]?.places[key] {
            measurements[point.measurement]?.points[place].fields.merge(point.fields) { $1 }
            return nil
        }
        let place = measurements[point.measurement]?.points.count ?? 0
        measurements[point.measurement, default: Measurement()].places[key] = place
        measurements[point.measurement]?.points.append(point)
        count += 1
        return nil
    }

    /// Removes a field with the name `time`, which cannot be stored.
    ///
    /// - Returns: The reason to drop the point, which has no other field, or a tag with that name; nil otherwise.
    private static func removeTime(from point: inout InfluxPoint) -> String? {
        let (time, measurement) = (ExactText("time"), point.measurement.text)
        if point.tags[time] != nil {
            return "invalid tag key: input tag \"time\" on measurement \"\(measurement)\" is invalid"
        }
        guard point.fields.removeValue(forKey: time) != nil, point.fields.isEmpty else { return nil }
        return "invalid field name: input field \"time\" on measurement \"\(measurement)\" is invalid"
    }

    /// Removes a measurement.
    mutating func drop(_ measurement: ExactText) {
        count -= measurements.removeValue(forKey: measurement)?.points.count ?? 0
        kinds[measurement] = nil
    }

    /// The measurements' names, in order.
    var names: [ExactText] { measurements.keys.sorted() }

    /// The points of a measurement in order of arrival; empty for an unknown one.
    func points(of measurement: ExactText) -> [InfluxPoint] { measurements[measurement]?.points ?? [] }

    /// The tag keys of a measurement, in order.
    func tagKeys(of measurement: ExactText) -> [ExactText] {
        Set(points(of: measurement).flatMap { $0.tags.keys }).sorted()
    }
}
