// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Writes events in the line protocol (docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference).
///
/// The measurement is the event's name, or the type of a call that has none. The only tag is the type: a tag with many
/// values, such as the user, would create as many series. Everything else is a field: `userId`, `messageId`, and
/// properties and traits by their names, with dots between nested names. A name that the point has already, such as `time`
/// and `type`, gets a `_`. Numbers are always floats, because a field keeps the type of its first value.
enum LineProtocol {
    /// Encodes a point, without the end of the line.
    ///
    /// - Parameter time: Nanoseconds since 1970.
    static func point(_ event: AnalyticsEvent, time: UInt64) -> [UInt8] {
        var fields: [(String, JSONValue)] = [("messageId", .string(event.messageId))]
        let identities = [
            ("userId", event.userId), ("anonymousId", event.anonymousId), ("groupId", event.groupId),
            ("previousId", event.previousId), ("name", event.event == nil ? event.name : nil),
            ("category", event.category),
        ]
        for (name, value) in identities { if let value { fields.append((name, .string(value))) } }
        fields += JSONValue.object(event.traits).leaves() + JSONValue.object(event.properties).leaves()
        fields += JSONValue.object(event.context).leaves(under: "context")
        var line = "\(measurement(of: event)),type=\(event.type.rawValue) "
        var names = FreeNames(taken: ["time", "type", ""])
        line += fields.map { name, value in
            "\(names.take(escaped(name, [",", " ", "="])))=\(text(value))"
        }.joined(separator: ",")
        return Array("\(line) \(time)".utf8)
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(Double(value))"
        case .number(let value): "\(value)"
        case .string(let value): quoted(value)
        default: quoted(value.serialized())
        }
    }

    /// A quoted string with escaped quotes and backslashes; line breaks may stay.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    /// The bytes that a line must not begin with: `#` makes it a comment, and servers skip tabs and zeros before
    /// anything else.
    private static let skipped = [UInt8(ascii: "#"), UInt8(ascii: "\t"), 0]

    /// The name of an event's measurement, as a line begins with it.
    static func measurement(of event: AnalyticsEvent) -> String {
        let escaped = escaped(event.event ?? event.type.rawValue, [",", " "])
        guard let first = escaped.utf8.first, skipped.contains(first) else { return escaped }
        return "\\" + escaped
    }

    /// A name with escaped separators. A line break has no escape and becomes a space.
    ///
    /// Nor has a backslash: before a separator or the end, InfluxDB would take what follows as part of the name, and its index would name
    /// a measurement in which no query finds the point. There, it becomes `_`.
    private static func escaped(_ name: String, _ separators: Set<Unicode.Scalar>) -> String {
        let scalars: [Unicode.Scalar] = name.unicodeScalars.map { $0 == "\n" || $0 == "\r" ? " " : $0 }
        var escaped = ""
        for (scalar, next) in zip(scalars, scalars.dropFirst() + [" "]) {
            if separators.contains(scalar) { escaped += "\\" }
            escaped.unicodeScalars.append(scalar == "\\" && separators.contains(next) ? "_" : scalar)
        }
        return escaped
    }
}
