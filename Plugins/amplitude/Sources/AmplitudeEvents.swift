// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes events for Amplitude, which takes the properties of users and groups as events of reserved types.
struct AmplitudeEvents {
    /// Members of an Amplitude event, and the places of their values in a context.
    private static let circumstances = [
        ("ip", "ip"), ("language", "locale"), ("app_version", "app.version"), ("os_name", "os.name"),
        ("os_version", "os.version"), ("device_model", "device.model"), ("device_manufacturer", "device.manufacturer"),
    ]

    /// The Amplitude group type for the specification's groups.
    let groupType: String

    /// The number of Amplitude events that an event becomes.
    static func count(of event: AnalyticsEvent) -> Int {
        event.type == .group && !event.traits.isEmpty ? 2 : 1
    }

    /// Encodes an event as it appears in a request.
    ///
    /// - Throws: A ``PluginError`` of status `unsupported` for an alias, which this API does not have.
    func encode(_ event: AnalyticsEvent, now: Timestamp) throws(PluginError) -> [UInt8] {
        var object: JSONObject = [
            "event_type": .string(try name(of: event)), "time": .integer(event.milliseconds(now: now)),
            "insert_id": .string(event.messageId), "library": "connector-host/1.0.0",
        ]
        object.set("user_id", event.userId)
        object.set("device_id", event.anonymousId.given)
        let context = JSONValue.object(event.context).leaves()
        for (member, place) in Self.circumstances {
            object.set(member, context.first { $0.name == place }?.value.string)
        }
        switch event.type {
        case .identify: object["user_properties"] = ["$set": .object(event.traits)]
        case .group:
            object["groups"] = .object(JSONObject([(groupType, .string(event.groupId ?? ""))]))
            object["user_properties"] = object["groups"].map { ["$set": $0] }
        default: object.set("event_properties", event.namedProperties)
        }
        let encoded = JSONValue.object(object).utf8WithoutPlaceholders()
        guard Self.count(of: event) == 2 else { return encoded }
        object["event_type"] = "$groupidentify"
        object["insert_id"] = .string(event.messageId + "-traits")
        object["user_properties"] = nil
        object["group_properties"] = ["$set": .object(event.traits)]
        return encoded + [UInt8(ascii: ",")] + JSONValue.object(object).utf8WithoutPlaceholders()
    }

    private func name(of event: AnalyticsEvent) throws(PluginError) -> String {
        switch event.type {
        case .track: event.event ?? ""
        case .identify, .group: "$identify"
        case .screen: "Screen Viewed"
        case .page: "Page Viewed"
        case .alias: throw PluginError(.unsupported, "this API has no alias", domain: "amplitude")
        }
    }
}
