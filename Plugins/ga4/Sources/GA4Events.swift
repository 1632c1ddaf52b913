// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes events for Google Analytics. It answers 2xx even for events that it drops, so faulty events are refused here.
enum GA4Events {
    /// The most characters of a text; Google cuts off or drops longer ones.
    private static let textLimits = ["page_location": 1000, "page_referrer": 420, "page_title": 300]
    private static let reservedPrefixes = ["ga_", "google_", "firebase_", "gtag_"]
    private static let reservedNames: Set = [
        "ad_activeview", "ad_click", "ad_exposure", "ad_query", "ad_reward", "adunit_exposure", "app_clear_data",
        "app_exception", "app_install", "app_remove", "app_store_refund", "app_update", "app_upgrade",
        "dynamic_link_app_open", "dynamic_link_app_update", "dynamic_link_first_open", "error", "first_open",
        "first_visit", "in_app_purchase", "notification_dismiss", "notification_foreground", "notification_open",
        "notification_receive", "notification_send", "os_update", "session_start", "user_engagement",
    ]
    private static let reservedTraits: Set = [
        "first_open_after_install", "first_open_time", "first_visit_time", "last_deep_link_referrer", "user_id",
    ]

    /// An event as it appears in a request, for an app's stream or a website's; throws for one that Google would drop or date differently.
    static func encode(_ event: AnalyticsEvent, isOfApp: Bool = false, now: Timestamp) throws(PluginError) -> [UInt8] {
        let (time, id) = (event.timestamp ?? now, event.anonymousId ?? "")
        guard max(id.unicodeScalars.count, event.userId?.unicodeScalars.count ?? 0) <= 256 else {
            throw invalid("an id of the user has more than 256 characters")
        }
        guard !isOfApp || id.count == 32 && id.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw invalid("an app's stream needs Firebase's app instance id, 32 hexadecimal digits, as anonymousId")
        }
        guard now.nanoseconds < time.nanoseconds &+ 72 * 3600 * 1_000_000_000 else {
            throw invalid("the event is older than 72 hours; Google would give it another time")
        }
        let name = try checked(try Self.name(of: event), limit: 40, "the event")
        guard !reservedNames.contains(name) else { throw invalid("Google reserves the event name \(name)") }
        var params = JSONObject()
        for (original, value) in parameters(of: event) {
            let name = try checked(original, limit: 40, "the property")
            let isList = name == "items" && value.array != nil
            try params.set(isList ? value : text(value, limit: textLimits[name] ?? 100), of: original, as: name)
        }
        if params["engagement_time_msec"] == nil { params["engagement_time_msec"] = 1 }
        guard params.members.count <= 25 else { throw invalid("the event has more than 24 properties") }
        if event.type == .identify { _ = try userProperties(event.traits) }
        let micros = Int64(clamping: time.nanoseconds / 1000)
        let item: JSONObject = ["name": .string(name), "params": .object(params), "timestamp_micros": .integer(micros)]
        return JSONValue.object(item).utf8()
    }

    /// A user's traits in the form that Google takes.
    static func userProperties(_ traits: JSONObject) throws(PluginError) -> JSONObject {
        var properties = JSONObject()
        for (name, value) in JSONValue.object(traits).leaves() where !reservedTraits.contains(name) {
            try properties.set(["value": text(value, limit: 36)], of: name, as: checked(name, limit: 24, "the trait"))
        }
        guard properties.members.count <= 25 else { throw invalid("the user has more than 25 traits") }
        return properties
    }

    private static func name(of event: AnalyticsEvent) throws(PluginError) -> String {
        switch event.type {
        case .track: event.event ?? ""
        case .identify: "identify"
        case .screen: "screen_view"
        case .page: "page_view"
        case .group: "join_group"
        case .alias: throw PluginError(.unsupported, "the protocol has no alias", domain: "ga4")
        }
    }

    private static func parameters(of event: AnalyticsEvent) -> [(name: String, value: JSONValue)] {
        var properties = event.namedProperties
        let names = [("url", "page_location"), ("title", "page_title"), ("referrer", "page_referrer")]
        for (name, parameter) in names where event.type == .page {
            properties[parameter] = properties[name].given ?? properties[parameter] ?? event.context["page"]?[name]
            properties[name] = nil
        }
        if event.type == .screen { properties.set("screen_name", event.name) }
        properties.set("group_id", event.groupId)
        return JSONValue.object(properties).leaves()
    }

    /// The name with `_` in place of characters that Google does not accept.
    private static func checked(_ original: String, limit: Int, _ what: String) throws(PluginError) -> String {
        let name = String(decoding: original.utf8.map { $0.isWordCharacter ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        let isReserved = reservedPrefixes.contains { name.hasPrefix($0) }
        guard name.utf8.first?.isLetter == true, name.utf8.count <= limit, !isReserved else {
            let rule = "a name begins with a letter from a to z, has \(limit) characters at most, and is not reserved"
            throw invalid("Google takes no name such as that of \(what) \"\(original.prefix(60))\": \(rule)")
        }
        return name
    }

    /// A number as it is, anything else as text.
    private static func text(_ value: JSONValue, limit: Int) -> JSONValue {
        value.number != nil ? value : .string(String((value.string ?? value.serialized()).unicodeScalars.prefix(limit)))
    }

    private static func invalid(_ message: String) -> PluginError { PluginError(.invalid, message, domain: "ga4") }
}
