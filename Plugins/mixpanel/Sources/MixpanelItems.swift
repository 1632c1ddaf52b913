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

    /// The names of events without one.
    private static let names: [AnalyticsEvent.Kind: String] = [
        .screen: "Screen Viewed", .page: "Page Viewed", .identify: "User Identified",
    ]

    /// Whether an event goes to the import: an identify only if it has both ids, because no profile links them.
    static func isImported(_ event: AnalyticsEvent) -> Bool {
        event.type == .identify ? event.userId != nil && event.anonymousId.given != nil : event.type != .group
    }

    /// An event as it appears in an import. Mixpanel joins the ids of one that has both, unless its name is the earlier `$identify`.
    func event(_ event: AnalyticsEvent, now: Timestamp) throws(PluginError) -> [UInt8] {
        guard event.type != .alias else { throw PluginError(.unsupported, "this API has no alias", domain: "mixpanel") }
        let name = Self.names[event.type] ?? event.event ?? ""
        var properties = event.namedProperties
        properties.displace("time", with: .integer(event.milliseconds(now: now)))
        properties.displace("distinct_id", with: id(of: event))
        properties.displace("$insert_id", with: .string(Self.insertId(event.messageId)))
        properties.set("$user_id", event.userId)
        properties.set("$device_id", event.anonymousId.given)
        properties["ip"] = .string(event.context["ip"].given?.string ?? properties["ip"].given?.string ?? "0")
        return JSONValue.object(["event": .string(name), "properties": .object(properties)]).utf8()
    }

    /// The update of a user's profile: the traits, or the group that the user joins. Without `$ip`, Mixpanel would locate the host.
    func user(_ event: AnalyticsEvent) -> [UInt8] {
        let groups: JSONObject = [groupKey: [.string(event.groupId ?? "")]]
        let (change, value) = event.type == .identify ? ("$set", event.traits) : ("$union", groups)
        let ip = JSONValue.string(event.context["ip"].given?.string ?? "0")
        return encoded(["$token": "", "$distinct_id": id(of: event), "$ip": ip, change: .object(value)])
    }

    /// The update of a group's profile.
    func group(_ event: AnalyticsEvent) -> [UInt8] {
        let (key, id) = (JSONValue.string(groupKey), JSONValue.string(event.groupId ?? ""))
        return encoded(["$token": "", "$group_key": key, "$group_id": id, "$set": .object(event.traits)])
    }

    /// The id under which Mixpanel files a user's events; without a `$user_id`, that is the `$device_id` with a prefix.
    private func id(of event: AnalyticsEvent) -> JSONValue { .string(event.userId ?? "$device:\(event.distinctId)") }

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
