// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The points of one database.
struct InfluxDatabase: Sendable {
    /// The name of its retention policy, the only one.
    static let retentionPolicy = "autogen"
    /// The most points kept; InfluxDB also limits its memory.
    static let capacity = 200_000

    /// The points of each measurement, ordered by time.
    private(set) var measurements: [String: [InfluxPoint]] = [:]
    /// The type of each field of each measurement.
    private(set) var kinds: [String: [String: InfluxPoint.FieldKind]] = [:]
    /// The number of points.
    private var count = 0

    /// Adds a point, or merges its fields into the one of the same series and time.
    ///
    /// - Returns: the reason that the point was dropped, in the server's words; `nil` if it was stored.
    mutating func insert(_ point: InfluxPoint) -> String? {
        var known = kinds[point.measurement] ?? [:]
        for (name, field) in point.fields.sorted(by: { $0.key < $1.key }) {
            if let kind = known[name], kind != field.kind {
                return "field type conflict: input field \"\(name)\" on measurement \"\(point.measurement)\" is type "
                    + "\(field.kind.rawValue), already exists as type \(kind.rawValue)"
            }
            known[name] = field.kind
        }
        guard count < Self.capacity else { return "cache-max-memory-size exceeded" }
        kinds[point.measurement] = known
        var points = measurements.removeValue(forKey: point.measurement) ?? []
        let time = point.time ?? 0
        var index = points.endIndex
        while index > 0, (points[index - 1].time ?? 0) > time { index -= 1 }
        var same = index
        while same > 0, points[same - 1].time == time, points[same - 1].series != point.series { same -= 1 }
        if same > 0, points[same - 1].time == time {
            points[same - 1].fields.merge(point.fields) { $1 }
        } else {
            points.insert(point, at: index)
            count += 1
        }
        measurements[point.measurement] = points
        return nil
    }

    /// Removes a measurement.
    mutating func drop(_ measurement: String) {
        count -= measurements.removeValue(forKey: measurement)?.count ?? 0
        kinds[measurement] = nil
    }

    /// The tag keys of a measurement, in order.
    func tagKeys(of measurement: String) -> [String] {
        Set((measurements[measurement] ?? []).flatMap { $0.tags.keys }).sorted()
    }
}
