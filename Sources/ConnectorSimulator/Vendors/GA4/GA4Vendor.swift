// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// The Measurement Protocol of Google Analytics 4: `POST /mp/collect`, and `/debug/mp/collect`, which checks requests.
///
/// Events are answered 204 without a body, whatever they hold and whatever the secret is. The validation server ignores the
/// secret, too; it answers with the problems of the request. Source: Google's documentation of the protocol.
struct GA4Vendor: Vendor {
    static let name = "ga4"
    static let demoCredentials = ["stream": "G-DEMO123456", "apiSecret": "demo-api-secret"]
    static let secretKeys = ["apiSecret"]

    private static let reservedPrefixes = ["_", "firebase_", "ga_", "google_", "gtag."]
    private static let reservedNames: Set = [
        "ad_click", "app_remove", "app_update", "error", "first_open", "first_visit", "in_app_purchase", "os_update",
        "session_start", "user_engagement",
    ]

    init(credentials: AcceptedCredentials) {}

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        let isCheck = path == ["debug", "mp", "collect"]
        guard isCheck || path == ["mp", "collect"] else { return failure(status: 404) }
        guard request.method == "POST" else { return failure(status: 405) }
        guard isCheck else { return HTTPResponse(status: 204) }
        let problems = Self.problems(of: request).map { field, description, code in
            ["fieldPath": .string(field), "description": .string(description), "validationCode": .string(code)]
                as JSONValue
        }
        return HTTPResponse(json: ["validationMessages": .array(problems)])
    }

    private typealias Problem = (field: String, description: String, code: String)

    private static func problems(of request: SimulatedRequest) -> [Problem] {
        let isApp = request.query["firebase_app_id"] != nil
        guard isApp || request.query["measurement_id"] != nil else {
            return [("measurement_id", "Measurement requires a measurement_id or a firebase_app_id.", "VALUE_REQUIRED")]
        }
        guard request.body.count <= 130_000 else { return [("body", "The body is too large.", "EXCEEDED_MAX_SIZE")] }
        guard let body = try? request.json(), body.object != nil else {
            return [("body", "Unable to parse Measurement Protocol JSON payload.", "VALUE_INVALID")]
        }
        var problems: [Problem] = []
        let id = isApp ? "app_instance_id" : "client_id"
        if body[id]?.string?.isEmpty != false {
            problems.append((id, "Measurement requires a(n) \(id).", "VALUE_REQUIRED"))
        } else if isApp, !Identifier.isHexadecimal(body[id]?.string ?? "", count: 32) {
            problems.append((id, "Measurement \(id) is not 32 hexadecimal digits.", "VALUE_INVALID"))
        }
        let events = body["events"]?.array ?? []
        if events.isEmpty { problems.append(("events", "Measurement requires at least one event.", "VALUE_REQUIRED")) }
        if events.count > 25 {
            problems.append(("events", "Measurement has more than 25 events.", "EXCEEDED_MAX_ENTITIES"))
        }
        for (index, event) in events.enumerated() { problems += Self.problems(of: event, "Event at index: [\(index)]") }
        let properties = body["user_properties"]?.object?.members ?? []
        if properties.count > 25 {
            problems.append(
                ("user_properties", "Measurement has more than 25 user properties.", "EXCEEDED_MAX_ENTITIES")
            )
        }
        for property in properties where !isName(property.name, limit: 24) {
            let description = "Measurement has a user property with invalid name [\(property.name)]."
            problems.append(("user_properties", description, "NAME_INVALID"))
        }
        return problems
    }

    private static func problems(of event: JSONValue, _ place: String) -> [Problem] {
        guard let name = event["name"]?.string else { return [("events", "\(place) needs a name.", "VALUE_REQUIRED")] }
        var problems: [Problem] = []
        if reservedNames.contains(name) {
            problems.append(("events", "\(place) has name [\(name)] which is reserved.", "NAME_RESERVED"))
        } else if !isName(name, limit: 40) {
            problems.append(("events", "\(place) has invalid name [\(name)].", "NAME_INVALID"))
        }
        let parameters = event["params"]?.object?.members ?? []
        if parameters.count > 25 {
            problems.append(("events", "\(place) has more than 25 parameters.", "EXCEEDED_MAX_ENTITIES"))
        }
        for parameter in parameters where !isName(parameter.name, limit: 40) {
            problems.append(("events", "\(place) has parameter of invalid name [\(parameter.name)].", "NAME_INVALID"))
        }
        return problems
    }

    /// Whether Google takes a name: a letter, then letters, digits and `_`, and no reserved prefix.
    private static func isName(_ name: String, limit: Int) -> Bool {
        1...limit ~= name.utf8.count && name.utf8.first?.isLetter == true && name.utf8.allSatisfy(\.isWordCharacter)
            && !reservedPrefixes.contains { name.hasPrefix($0) }
    }

    /// An HTML page, as Google's front ends send.
    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = message ?? code ?? HTTPReason.text(of: status)
        return HTTPResponse(
            status: status,
            text: "<html><title>Error \(status)</title>\(text)</html>",
            type: "text/html"
        )
    }
}
