// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes events for PostHog: each has a person and properties, some with names that PostHog reserves.
struct PostHogEvents {
    /// The longest id of a person; PostHog truncates longer ones, which would merge different people.
    static let distinctIdLimit = 200

    /// The PostHog group type for the specification's groups.
    let groupType: String

    /// Encodes an event as it appears in a batch.
    func encode(_ event: AnalyticsEvent, now: Timestamp) throws(PluginError) -> [UInt8] {
        let distinctId = event.type == .alias ? event.previousId ?? "" : event.distinctId
        // Some events join the person with another one.
        let other = event.type == .identify ? event.anonymousId : event.userId
        for id in [distinctId, other ?? ""] where id.unicodeScalars.count > Self.distinctIdLimit {
            throw PluginError(.invalid, "an id of the user has more than \(Self.distinctIdLimit) characters")
        }
        var properties = properties(of: event)
        properties.displace("$lib", with: "connector-host")
        properties.displace("$lib_version", with: "1.0.0")
        properties.set("$ip", event.context["ip"].given?.string)
        // Without an address, PostHog would move the person to the place of the host.
        if properties["$ip"].given?.string == nil, properties["$geoip_disable"]?.bool == nil {
            properties["$geoip_disable"] = true
        }
        if !event.context.isEmpty { properties.displace("context", with: .object(event.context)) }
        let value: JSONValue = [
            "event": .string(name(of: event)),
            "distinct_id": .string(distinctId),
            "properties": .object(properties),
            "timestamp": .string("\(event.timestamp ?? now)"),
            "uuid": .string(StableUUID.from(event.messageId)),
        ]
        return value.utf8WithoutPlaceholders()
    }

    private func name(of event: AnalyticsEvent) -> String {
        switch event.type {
        case .track: event.event ?? ""
        case .identify: "$identify"
        case .screen: "$screen"
        case .page: "$pageview"
        case .group: "$groupidentify"
        case .alias: "$create_alias"
        }
    }

    private func properties(of event: AnalyticsEvent) -> JSONObject {
        var properties = event.properties
        switch event.type {
        case .track: break
        case .identify:
            properties["$set"] = .object(event.traits)
            if event.userId != nil { properties.set("$anon_distinct_id", event.anonymousId.given) }
        case .screen: properties["$screen_name"] = event.name.map { .string($0) }
        case .page:
            properties["$current_url"] = event.properties["url"].given ?? event.context["page"]?["url"]
            properties["title"] = event.properties["title"].given ?? event.name.map { .string($0) }
            if properties["category"].given == nil { properties.set("category", event.category) }
        case .group:
            properties["$group_type"] = .string(groupType)
            properties["$group_key"] = event.groupId.map { .string($0) }
            properties["$group_set"] = .object(event.traits)
        case .alias:
            properties["distinct_id"] = event.previousId.map { .string($0) }
            properties["alias"] = event.userId.map { .string($0) }
        }
        return properties
    }
}
