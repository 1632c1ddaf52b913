// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Matomo's tracking API at `/matomo.php`, for one request or a batch, and the request of its reporting API for a site.
///
/// A request is invalid if it is for an unknown site, lacks `rec=1`, has an event category without an action, or a visitor's id (`cid`)
/// of another length than 16; without a token, also if it has an IP address or is a day old. A time that is ahead, twenty years old or
/// unreadable does not count: the request is tracked as one of now. The valid requests of a batch are tracked;
/// which ones are invalid is reported to superusers only, and the token here is a superuser's; where the batch has none, each request
/// may have its own. `send_image=0` asks for an answer without a body. Without parameters, the answer is a page. A fault with
/// `code=1205`, MySQL's code for a lock that was not free in time, answers a batch as the tracker then does: success, with nothing
/// tracked. Source: Matomo's documentation of the API, and its tracker.
struct MatomoVendor: Vendor {
    static let name = "matomo"
    static let demoCredentials = ["siteId": "1", "token": "0123456789abcdef0123456789abcdef"]
    static let secretKeys = ["token"]

    /// MySQL's error code for a wait for a lock that took too long.
    private static let lockWait = "1205"

    /// The sites and tokens that the vendor knows.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        // PHP takes parameters from the query and from the body.
        let items = request.parameters
        switch request.path {
        case "/", "/index.php": return report(items)
        case "/matomo.php", "/piwik.php": break
        default: return failure(status: 404)
        }
        if let body = try? request.json(), let requests = body["requests"]?.array {
            let answer = batch(requests, token: body["token_auth"]?.string, now: request.receivedAt)
            return ["0", 0].contains(body["send_image"]) ? HTTPResponse(status: 204) : answer
        }
        guard !items.items.isEmpty else {
            let page = "This resource is part of Matomo. This file is the endpoint for the Matomo tracking API.\n"
            return HTTPResponse(status: request.method == "GET" ? 200 : 400, text: page, type: "text/html")
        }
        guard isValid(items, token: items["token_auth"], now: request.receivedAt) else { return failure(status: 400) }
        guard items["send_image"] != "0" else { return HTTPResponse(status: 204) }
        return HTTPResponse(status: 200, headers: ["Content-Type": "image/gif"], body: Array("GIF89a".utf8))
    }

    private func batch(_ requests: [JSONValue], token: String?, now: Timestamp) -> HTTPResponse {
        let invalid = requests.indices.filter { index in
            let items = Self.items(of: requests[index])
            return !isValid(items, token: token ?? items["token_auth"], now: now)
        }
        var answer: JSONObject = [
            "status": "success", "tracked": .integer(Int64(requests.count - invalid.count)),
            "invalid": .integer(Int64(invalid.count)),
        ]
        if credentials.accepts("token", token) {
            answer["invalid_indices"] = .array(invalid.map { .integer(Int64($0)) })
        }
        return HTTPResponse(json: .object(answer))
    }

    /// The parameters of one request of a batch, which is a URL with a query, or an object.
    private static func items(of request: JSONValue) -> QueryItems {
        guard let members = request.object?.members else {
            return QueryItems(parsing: request.string?.drop { $0 != "?" }.dropFirst() ?? "")
        }
        var items = QueryItems()
        for member in members { items.append(member.name, member.value.string ?? member.value.serialized()) }
        return items
    }

    /// Whether a request can be tracked.
    private func isValid(_ items: QueryItems, token: String?, now: Timestamp) -> Bool {
        guard credentials.accepts("siteId", items["idsite"]), items["rec"] == "1" else { return false }
        if items["e_c"] != nil, items["e_a"]?.isEmpty != false { return false }
        // The id of a user takes the place of a visitor's.
        let visitor = items["uid"]?.isEmpty == false ? "" : items["cid"] ?? ""
        guard visitor.isEmpty || visitor.utf8.count == 16 else { return false }
        guard items["cip"] == nil || credentials.accepts("token", token) else { return false }
        guard let time = items["cdt"] else { return true }
        let seconds =
            Int64(time) ?? Timestamp(parsing: time.replacing(" ", with: "T") + "Z").map { $0.milliseconds / 1000 }
        let present = now.milliseconds / 1000
        // The tracker ignores any other time.
        guard let seconds, present - 20 * 365 * 86_400 < seconds, seconds <= present else { return true }
        return present - seconds < 86_400 || credentials.accepts("token", token)
    }

    private func report(_ items: QueryItems) -> HTTPResponse {
        guard items["module"] == "API", items["method"] == "SitesManager.getSiteFromId" else {
            return failure(status: 404)
        }
        guard credentials.accepts(["token": items["token_auth"], "siteId": items["idSite"]]) else {
            let message = "Unable to authenticate with the provided token. It is either invalid or expired."
            return HTTPResponse(status: 401, json: ["result": "error", "message": .string(message)])
        }
        return HTTPResponse(json: [
            "idsite": .string(items["idSite"] ?? ""), "name": "Demo", "main_url": "http://demo.example",
        ])
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        if code == Self.lockWait {
            return HTTPResponse(status: status ?? 200, json: ["status": "success", "tracked": 0, "invalid": 0])
        }
        var answer: JSONObject = ["status": "error", "tracked": 0, "invalid": 0]
        answer["message"] = (message ?? code).map { .string($0) }
        return HTTPResponse(status: status ?? 500, json: .object(answer))
    }
}
