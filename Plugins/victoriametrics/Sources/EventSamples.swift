// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Turns events into samples, in the lines of `/api/v1/import`.
///
/// An event is a sample of value 1 of `event_count`, labeled with its name and type, at its time. Every number among its properties or
/// traits is a sample of `event_value` with the label `property`, which has dots between nested names, and a `_` if another number of the
/// event has it already. Texts, such as the user, are left out: as a label, each would make a time series of its own.
struct EventSamples {
    /// The longest name of an event or a property, in bytes; servers cut off longer labels, which would merge series.
    static let nameLimit = 1024
    /// How far in the future an event may be. VictoriaMetrics answers 204 to later samples too, but ignores them.
    private static let futureSeconds: UInt64 = 2 * 86_400

    /// The time of an event without a timestamp.
    let now: Timestamp

    /// The lines of an event.
    ///
    /// - Throws: A ``PluginError`` for an event that the server would ignore or cut.
    func lines(_ event: AnalyticsEvent) throws(PluginError) -> [UInt8] {
        let time = event.timestamp ?? now
        guard time.nanoseconds / 1_000_000_000 <= now.nanoseconds / 1_000_000_000 + Self.futureSeconds else {
            throw PluginError(.invalid, "the event happens more than two days in the future", domain: "victoriametrics")
        }
        let milliseconds = Int64(clamping: time.nanoseconds / 1_000_000)
        var lines = try Self.line("event_count", event, property: nil, 1, milliseconds)
        let numbers = (JSONValue.object(event.properties).leaves() + JSONValue.object(event.traits).leaves())
            .compactMap { leaf in leaf.value.number.map { (leaf.name, $0) } }
        var names = FreeNames()
        for (name, value) in numbers {
            guard !name.isEmpty else {
                throw PluginError(.invalid, "a number has an empty name", domain: "victoriametrics")
            }
            lines.append(UInt8(ascii: "\n"))
            lines += try Self.line("event_value", event, property: names.take(name), value, milliseconds)
        }
        return lines
    }

    private static func line(
        _ metric: String,
        _ event: AnalyticsEvent,
        property: String?,
        _ value: Double,
        _ milliseconds: Int64
    ) throws(PluginError) -> [UInt8] {
        var labels: JSONObject = ["__name__": .string(metric), "type": .string(event.type.rawValue)]
        for (label, name) in [("event", event.event ?? event.name), ("property", property)] {
            guard let name else { continue }
            guard name.utf8.count <= nameLimit else {
                throw PluginError(
                    .invalid,
                    "the name of the \(label) has more than \(nameLimit) bytes",
                    domain: "victoriametrics"
                )
            }
            labels[label] = .string(name)
        }
        let line: JSONValue = [
            "metric": .object(labels), "values": [.number(value)], "timestamps": [.integer(milliseconds)],
        ]
        return line.utf8()
    }
}
