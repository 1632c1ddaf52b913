// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Matomo. Bodies contain the token's placeholder, so nothing else in them may look like one.
struct MatomoRequests {
    /// Matomo has no limits of its own; PHP's is 8 MB. These keep a transaction short.
    static let limits = BatchDelivery(itemBytes: 1_000_000, batchBytes: 1_000_000, batchCount: 100)

    /// The answer to a batch: how many of its requests were tracked, and how many are invalid.
    static let tracked = VendorAnswer(
        "matomo",
        [.object(#"with "status": "success""#) { $0["status"] == "success" && $0["tracked"]?.integer != nil }],
        isRefusal: { response in
            let body = try? response.json()
            return body?["result"] == "error" || body?["status"] == "error" && body?["tracked"]?.integer != nil
        }
    )

    private let endpoint: HTTPURL
    private let siteId: String
    private let token: SecretPlaceholder?

    init(_ configuration: PluginConfiguration) throws(PluginError) {
        endpoint = try configuration.url("endpoint")
        siteId = try configuration.string("siteId")
        token = configuration.optionalSecret("token")
    }

    /// Whether requests carry a token.
    var hasToken: Bool { token != nil }

    /// A request for what the token may see of the site. Matomo accepts newer tokens only in bodies.
    var site: HTTPRequest {
        let url = endpoint.appending(path: "/index.php").with("module", "API")
            .with("method", "SitesManager.getSiteFromId").with("idSite", siteId).with("format", "json")
        var request = HTTPRequest(.post, url, body: Array("token_auth=\(token?.text ?? "")".utf8))
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        request.hasPlaceholdersInBody = true
        return request
    }

    /// A batch of encoded requests.
    func track(_ items: [[UInt8]]) -> HTTPRequest {
        var body = Array("{".utf8)
        if let token { body += Array(#""token_auth":"\#(token)","#.utf8) }
        body += Array(#""requests":["#.utf8)
        body.append(items, separator: UInt8(ascii: ","))
        body += Array("]}".utf8)
        var request = HTTPRequest(.post, endpoint.appending(path: "/matomo.php"), body: body)
        request.headers["Content-Type"] = "application/json"
        request.hasPlaceholdersInBody = token != nil
        return request
    }

    /// A request that Matomo calls invalid, because it is for no site. A number below 0 does not appear in the administrator's list of
    /// failures.
    static let noSite = Array(#""?idsite=-1&rec=1""#.utf8)

    /// An event as a query in quotation marks; its percent-encoding leaves nothing for JSON to escape.
    func encode(_ event: AnalyticsEvent, now: Timestamp) throws(PluginError) -> [UInt8] {
        var query = QueryItems()
        query.append("idsite", siteId)
        query.append("rec", "1")
        query.append("apiv", "1")
        query.append("send_image", "0")
        func add(_ name: String, _ value: JSONValue?) {
            guard let value, value != .null else { return }
            query.append(name, value.string ?? value.serialized())
        }
        add("uid", event.userId.map { .string($0) })
        // A visitor's id has 16 hexadecimal digits. As `_id`, it is only a hint: visitors unknown so far join the last visit from the host.
        let id = event.anonymousId.given ?? event.distinctId
        let isVisitor = id.utf8.count == 16 && id.allSatisfy { $0.isASCII && $0.isHexDigit }
        let visitor = isVisitor ? id : String(StableUUID.hashed(id).prefix(16))
        add(event.userId.given == nil ? "cid" : "_id", .string(visitor))
        // The clock of whoever made the event may be fast.
        let (seconds, present) = (event.milliseconds(now: now) / 1000, Int64(clamping: now.nanoseconds / 1_000_000_000))
        guard present - 20 * 365 * 86_400 < seconds, seconds <= present + 600 else {
            let words = "Matomo would give another time to an event of the future, or of twenty years ago"
            throw PluginError(.invalid, words, domain: "matomo")
        }
        add("cdt", .integer(seconds))
        add("ua", event.context["userAgent"])
        add("lang", event.context["locale"])
        if hasToken { add("cip", event.context["ip"]) }
        let (properties, page) = (event.properties, event.context["page"])
        add(
            "url",
            properties["url"].given ?? page?["url"].given
                ?? event.name.map { .string("app://screen/\(PercentCoding.encode($0))") }
        )
        add("urlref", properties["referrer"].given ?? page?["referrer"])
        switch event.type {
        case .page, .screen: add("action_name", properties["title"].given ?? event.name.map { .string($0) })
        case .track:
            add("ca", 1)
            add("e_c", properties["category"].given ?? "Events")
            add("e_a", event.event.map { .string($0) })
            add("e_n", properties["label"].given ?? properties["name"])
            add("e_v", (properties["value"]?.number ?? properties["revenue"]?.number).map { .number($0) })
        default: throw PluginError(.unsupported, "the tracking API has no \(event.type.rawValue)", domain: "matomo")
        }
        for member in properties.members where member.name.hasPrefix("dimension") { add(member.name, member.value) }
        return Array("\"?\(query.encoded)\"".utf8)
    }
}
