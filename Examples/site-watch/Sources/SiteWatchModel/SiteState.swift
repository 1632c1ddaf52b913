// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// What one sensor of a site measures.
public struct Measure: Sendable, Identifiable {
    /// The connector and the sensor's name, such as `sites/cellar/probe temperature`.
    public let id: String
    /// The sensor's name.
    public let name: String
    /// The latest readings, oldest first.
    public internal(set) var readings: [SensorReading] = []
    /// What the values should be within.
    public internal(set) var bounds: Bounds

    /// The latest reading.
    public var latest: SensorReading? { readings.last }

    /// Whether the latest good value is outside the bounds. Readings that are not good change nothing.
    public var isOutside: Bool {
        guard let value = readings.last(where: { $0.quality == .good })?.value else { return false }
        return !bounds.contains(value)
    }

    /// The latest value with its unit, or what is wrong with it.
    public var text: String {
        guard let latest else { return "nothing yet" }
        guard let value = latest.value else { return "no value" }
        let quality = latest.quality == .good ? "" : " (\(latest.quality.rawValue))"
        return "\(value.brief)\(unit.isEmpty ? "" : " \(unit)")\(quality)"
    }

    /// The unit as people write it; empty for plain numbers.
    public var unit: String {
        let names = ["Cel": "°C", "By": "bytes", "1": ""]
        return latest.map { names[$0.unit] ?? $0.unit } ?? ""
    }
}

/// A site with what its sensors measure.
public struct SiteState: Sendable, Identifiable {
    /// The site.
    public let site: Site
    /// What is measured, in the order in which each was first heard of.
    public internal(set) var measures: [Measure] = []

    /// The site's name.
    public var id: String { site.id }

    /// What is outside its bounds.
    public var outside: [Measure] { measures.filter(\.isOutside) }
}

/// Something to know: a site left its bounds, or is back within them.
public struct Notice: Sendable, Hashable, Identifiable {
    /// Unique among the notices of a watch.
    public let id: Int
    /// When it was measured.
    public let time: Timestamp
    /// The site's name.
    public let site: String
    /// What happened, such as `battery 15 % is not at least 20`.
    public let text: String
    /// Whether it is bad news.
    public let isOutside: Bool
}
