// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension AnalyticsEvent {
    /// The JSON form that operations take.
    public var json: JSONValue {
        var members = MemberValues()
        write(to: &members)
        return .object(members.object)
    }

    /// ``json`` as text, written without creating the value.
    package func utf8() -> [UInt8] {
        var members = MemberTexts(capacity: Self.usualSize)
        write(to: &members)
        return members.end()
    }

    /// The JSON array of events.
    package static func utf8(_ events: [AnalyticsEvent]) -> [UInt8] {
        var members = MemberTexts(capacity: usualSize * events.count)
        members.serializer.append("[")
        for (index, event) in events.enumerated() {
            if index > 0 { members.serializer.append(",") }
            event.write(to: &members)
            members.serializer.append("}")
        }
        members.serializer.append("]")
        return members.serializer.bytes
    }

    /// The initial capacity, in bytes, which suffices for most events.
    private static let usualSize = 512

    /// Writes every member that the event has, in the order of the specification.
    private func write(to members: inout some MemberWriter) {
        members.begin("type", type.rawValue)
        members.set("messageId", messageId)
        members.set("timestamp", timestamp?.exactText)
        members.set("userId", userId)
        members.set("anonymousId", anonymousId)
        members.set("event", event)
        members.set("name", name)
        members.set("category", category)
        members.set("groupId", groupId)
        members.set("previousId", previousId)
        members.set("properties", properties)
        members.set("traits", traits)
        members.set("context", context)
    }
}

/// A destination for the members of an event.
private protocol MemberWriter {
    /// Writes the first member.
    mutating func begin(_ name: StaticString, _ text: String)
    /// Writes a member unless it is nil.
    mutating func set(_ name: StaticString, _ text: String?)
    /// Writes a member unless it is empty.
    mutating func set(_ name: StaticString, _ object: JSONObject)
}

/// Collects members as values.
private struct MemberValues: MemberWriter {
    var object = JSONObject()

    mutating func begin(_ name: StaticString, _ text: String) { set(name, text) }

    mutating func set(_ name: StaticString, _ text: String?) { object.set(name.description, text) }

    mutating func set(_ name: StaticString, _ value: JSONObject) { object.set(name.description, value) }
}

/// Writes members as text.
private struct MemberTexts: MemberWriter {
    var serializer: JSONSerializer

    init(capacity: Int) {
        serializer = JSONSerializer(isPretty: false, capacity: capacity)
    }

    mutating func begin(_ name: StaticString, _ text: String) {
        serializer.append("{\"")
        serializer.append(name)
        serializer.append("\":")
        serializer.write(text)
    }

    mutating func set(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        write(name)
        serializer.write(text)
    }

    mutating func set(_ name: StaticString, _ object: JSONObject) {
        guard !object.isEmpty else { return }
        write(name)
        serializer.write(object)
    }

    private mutating func write(_ name: StaticString) {
        serializer.append(",\"")
        serializer.append(name)
        serializer.append("\":")
    }

    /// Ends the object, and returns the text.
    mutating func end() -> [UInt8] {
        serializer.append("}")
        return serializer.bytes
    }
}
