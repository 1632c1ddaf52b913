// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes events for Mixpanel, and what they say about users and groups for its profiles.
struct MixpanelItems {
    /// The token's placeholder.
    let token: String
    /// The Mixpanel group key for the specification's groups.
    let groupKey: String

    /// An event as it appears in an import. With both ids, Mixpanel learns that they belong to one user.
    func event(_ event: AnalyticsEvent, now: Timestamp) throws(PluginError) -> [UInt8] {
        let name: String =
            switch event.type {
            case .screen: "Screen Viewed"
            case .page: "Page Viewed"
            case .alias: throw PluginError(.unsupported, "this API has no alias", domain: "mixpanel")
            default: event.event ?? ""
            }
        var properties = event.namedProperties
        properties["time"] = .integer(event.milliseconds(now: now))
        properties["distinct_id"] = .string(event.distinctId)
        properties["$insert_id"] = .string(Self.insertId(event.messageId))
        properties.set("$user_id", event.userId)
        properties.set("$device_id", event.anonymousId)
        properties["ip"] = .string(event.context["ip"]?.string ?? properties["ip"]?.string ?? "0")
        return JSONValue.object(["event": .string(name), "properties": .object(properties)]).utf8()
    }

    /// The update of a user's profile: the traits, or the group that the user joins. Without `$ip`, Mixpanel would locate the host.
    func user(_ event: AnalyticsEvent) -> [UInt8] {
        var profile: JSONObject = ["$token": "", "$distinct_id": .string(event.distinctId)]
        profile["$ip"] = .string(event.context["ip"]?.string ?? "0")
        let groups: JSONObject = [groupKey: [.string(event.groupId ?? "")]]
        let (change, value) = event.type == .identify ? ("$set", event.traits) : ("$union", groups)
        profile[change] = .object(value)
        return encoded(profile)
    }

    /// The update of a group's profile.
    func group(_ event: AnalyticsEvent) -> [UInt8] {
        encoded([
            "$token": "", "$group_key": .string(groupKey), "$group_id": .string(event.groupId ?? ""),
            "$set": .object(event.traits),
        ])
    }

    /// The profile with the token's placeholder, and no other text that reads as one.
    private func encoded(_ profile: JSONObject) -> [UInt8] {
        let empty = Array(#"{"$token":""#.utf8)
        return empty + Array(token.utf8) + JSONValue.object(profile).utf8WithoutPlaceholders().dropFirst(empty.count)
    }

    /// The message's id if Mixpanel accepts it, otherwise a UUID derived from it. Mixpanel drops duplicates by it.
    static func insertId(_ messageId: String) -> String {
        let isTaken = messageId.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
        return isTaken && 1...36 ~= messageId.utf8.count ? messageId : StableUUID.from(messageId)
    }
}
