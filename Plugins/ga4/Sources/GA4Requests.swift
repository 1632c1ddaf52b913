// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Google Analytics. Each is about one person, whose ids and properties it carries beside the events.
struct GA4Requests {
    /// 25 events and 130 kB per request, minus the JSON around the events: two ids and 25 properties of the user, whatever is in them.
    static let limits = BatchDelivery(itemBytes: 120_000, batchBytes: 120_000, batchCount: 25)

    /// The answer to events: any 2xx without a body, whatever becomes of them. Google refuses no event by a status.
    static let collected = VendorAnswer("ga4", statuses: 200...299, [.empty], isRefusal: { _ in false })

    /// The answer of the validation server.
    static let validated = VendorAnswer(
        "ga4",
        [.object(#"with "validationMessages""#) { $0["validationMessages"]?.array != nil }]
    ) { _ in false }

    let endpoint: HTTPURL
    /// A measurement id, or the id of a Firebase app, which has colons.
    let stream: String
    let apiSecret: SecretPlaceholder

    /// Whether the stream is an app's.
    var isOfApp: Bool { stream.utf8.contains(UInt8(ascii: ":")) }

    /// A request with encoded events of one person, as one of them names it. A check validates events without counting them.
    func collect(_ events: [[UInt8]], of event: AnalyticsEvent, isCheck: Bool = false) throws -> HTTPRequest {
        var person = JSONObject()
        person.set(isOfApp ? "app_instance_id" : "client_id", event.anonymousId.given ?? event.userId)
        person.set("user_id", event.userId)
        if event.type == .identify { person["user_properties"] = .object(try GA4Events.userProperties(event.traits)) }
        var body = Array(JSONValue.object(person).utf8().dropLast()) + Array(#","events":["#.utf8)
        body.append(events, separator: UInt8(ascii: ","))
        body += Array("]}".utf8)
        let url = endpoint.appending(path: isCheck ? "/debug/mp/collect" : "/mp/collect")
            .with(isOfApp ? "firebase_app_id" : "measurement_id", stream).with("api_secret", apiSecret)
        return HTTPRequest(.post, url, headers: ["Content-Type": "application/json"], body: body)
    }
}
