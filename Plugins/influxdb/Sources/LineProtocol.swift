// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Writes events in the line protocol (docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference).
///
/// The measurement is the event's name, or the type of a call that has none. The only tag is the type: a tag with many
/// values, such as the user, would create as many series. Everything else is a field: `userId`, `messageId`, and
/// properties and traits by their names, with dots between nested names; `time` and `type`, which the point has already,
/// become `time_` and `type_`. Numbers are always floats, because a field keeps the type of its first value.
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
        let measurement = measurement(event.event ?? event.type.rawValue)
        var line = "\(measurement),type=\(event.type.rawValue) "
        line += unique(fields).map { "\(escaped($0.0, [",", " ", "="]))=\($0.1)" }.joined(separator: ",")
        return Array("\(line) \(time)".utf8)
    }

    /// A field's name with `_` in place of each backslash before a separator or the end. Line protocol cannot escape a backslash, so
    /// InfluxDB would take what follows as part of the name.
    private static func expressible(_ name: String) -> String {
        guard name.utf8.contains(UInt8(ascii: "\\")) else { return name }
        let scalars = Array(name.unicodeScalars)
        let pairs = zip(scalars, scalars.dropFirst() + [" "])
        let ends: Set<Unicode.Scalar> = [",", " ", "=", "\n", "\r"]
        return String(String.UnicodeScalarView(pairs.map { $0 == "\\" && ends.contains($1) ? "_" : $0 }))
    }

    /// Fields as text; drops those with a repeated or empty name.
    private static func unique(_ fields: [(String, JSONValue)]) -> [(String, String)] {
        var seen: Set<String> = []
        return fields.compactMap { name, value in
            let name = name == "time" || name == "type" ? name + "_" : expressible(name)
            guard !name.isEmpty, seen.insert(name).inserted else { return nil }
            return (name, text(value))
        }
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

    /// A measurement's name. A trailing backslash would escape the next character, so an escaped space follows it.
    private static func measurement(_ name: String) -> String {
        var escaped = escaped(name, [",", " "])
        if let first = escaped.utf8.first, skipped.contains(first) { escaped = "\\" + escaped }
        return name.utf8.last == UInt8(ascii: "\\") ? escaped + "\\ " : escaped
    }

    /// A name with escaped separators. A line break has no escape and becomes a space.
    private static func escaped(_ text: String, _ separators: Set<Unicode.Scalar>) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            let character = character == "\n" || character == "\r" ? " " : character
            if separators.contains(character) { escaped += "\\" }
            escaped.unicodeScalars.append(character)
        }
        return escaped
    }
}
