// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The totals of one group, in Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats).
struct PushedCounters: Equatable {
    /// The counters' name.
    static let name = "events_total"
    /// The most counters, because each is a time series in Prometheus.
    static let limit = 1000

    /// The totals by labels, as written between the braces.
    private(set) var totals: [String: UInt64] = [:]

    /// Reads a group's totals from the gateway's metrics; a missing group has none.
    init(in metrics: JSONValue, group: [(name: String, value: String)]) {
        let labels = JSONObject(group.map { ($0.name, .string($0.value)) })
        let found = metrics["data"]?.array?.first { candidate in
            guard let object = candidate["labels"]?.object, object.members.count == group.count else { return false }
            return labels.members.allSatisfy { object[$0.name] == $0.value }
        }
        for counter in found?[Self.name]?["metrics"]?.array ?? [] {
            guard let labels = counter["labels"], let type = labels["type"]?.string,
                let total = counter["value"]?.string.flatMap({ Double($0) }).flatMap({ UInt64(exactly: $0) })
            else { continue }
            totals[Self.labels(event: labels["event"]?.string ?? "", type: type)] = total
        }
    }

    /// Counts an event.
    ///
    /// - Throws: A ``PluginError`` if it would need one counter too many.
    mutating func count(_ event: AnalyticsEvent) throws(PluginError) {
        let labels = Self.labels(of: event)
        guard totals[labels] != nil || totals.count < Self.limit else {
            throw PluginError(
                .invalid,
                "the group has \(Self.limit) counters already; name events by what happens, not by whom or what it concerns",
                domain: "pushgateway"
            )
        }
        // The gateway may have returned any total, even the greatest.
        totals[labels] = min(totals[labels] ?? 0, .max - 1) + 1
    }

    /// Raises every total to at least another one.
    mutating func raise(to others: Self) { totals.merge(others.totals, uniquingKeysWith: max) }

    /// The labels of the counter of an event.
    static func labels(of event: AnalyticsEvent) -> String {
        labels(event: event.event ?? event.name ?? "", type: event.type.rawValue)
    }

    private static func labels(event: String, type: String) -> String {
        let escaped = event.escaping("\\", "\"").unicodeScalars.map { $0 == "\n" ? "\\n" : String($0) }.joined()
        return "event=\"\(escaped)\",type=\"\(type)\""
    }

    /// All totals, sorted.
    var text: String {
        let lines = totals.sorted { $0.key < $1.key }.map { "\(Self.name){\($0.key)} \($0.value)\n" }
        return "# HELP \(Self.name) Events by name and type.\n# TYPE \(Self.name) counter\n" + lines.joined()
    }
}
