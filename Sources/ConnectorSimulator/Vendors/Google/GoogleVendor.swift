// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Google's Geocoding API over the same gazetteer: `GET /maps/api/geocode/json`.
///
/// The body's `status` distinguishes success from failure: a wrong key is `REQUEST_DENIED` with HTTP 200, a request
/// without a search term is `INVALID_REQUEST` with 400. A fault with `code=OVER_QUERY_LIMIT` returns that status.
/// Source: Google's documentation and its client libraries.
struct GoogleVendor: Vendor {
    static let name = "google"
    static let demoCredentials = ["key": "AIza-demo-key"]
    static let secretKeys = ["key"]

    /// The keys that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard request.components == ["maps", "api", "geocode", "json"] else { return failure(status: 404) }
        guard request.method == "GET" else { return failure(status: 405) }
        let query = request.query
        guard let key = query["key"], !key.isEmpty else {
            let message =
                "You must use an API key to authenticate each request to Google Maps Platform APIs. For additional"
                + " information, please refer to http://g.co/dev/maps-no-account"
            return answer("REQUEST_DENIED", message: message)
        }
        guard credentials.accepts("key", key) else {
            return answer("REQUEST_DENIED", message: "The provided API key is invalid. ")
        }
        if let text = query["latlng"] { return reverse(text, query) }
        if let id = query["place_id"] {
            return answer(Gazetteer.places.filter { GooglePlace(place: $0).placeID == id })
        }
        let components = Self.components(query["components"])
        guard let components, query["address"]?.trimmingBlanks().isEmpty == false || !components.isEmpty else {
            let message = "Invalid request. Missing the 'address', 'components', 'latlng' or 'place_id' parameter."
            return answer("INVALID_REQUEST", httpStatus: 400, message: message)
        }
        return search(query["address"] ?? "", components)
    }

    /// Finds places by address, filtered by components.
    private func search(_ address: String, _ components: [(name: String, value: String)]) -> HTTPResponse {
        let keys = [
            "country": ["country"], "postal_code": ["postcode"], "route": ["road"],
            "locality": ["city", "suburb"], "administrative_area": ["state", "county"],
        ]
        let places = address.trimmingBlanks().isEmpty ? Gazetteer.places : Gazetteer.search(address)
        let matching = places.filter { place in
            components.allSatisfy { component in
                (keys[component.name] ?? []).contains { GooglePlace(place: place).has(component.value, as: $0) }
            }
        }
        return answer(matching)
    }

    /// Finds the places of the wanted types at a coordinate, whose numbers must have no exponent.
    private func reverse(_ text: String, _ query: QueryItems) -> HTTPResponse {
        let parts = text.split(ascii: ",").map { String($0) }
        guard parts.count == 2, let latitude = Degrees.parseDecimal(parts[0], limit: 90),
            let longitude = Degrees.parseDecimal(parts[1], limit: 180)
        else {
            return answer("INVALID_REQUEST", httpStatus: 400, message: "Invalid request. Invalid 'latlng' parameter.")
        }
        let types = query["result_type"]?.split(ascii: "|").map { String($0) }
        let locations = query["location_type"]?.split(ascii: "|").map { String($0) }
        let places = Gazetteer.reverse(latitude: latitude, longitude: longitude, radius: 500)
        return answer(
            places.filter { place in
                let found = GooglePlace(place: place)
                return (types?.contains { found.types.contains($0) } ?? true)
                    && (locations?.contains(found.locationType) ?? true)
            }
        )
    }

    /// Parses `country:DE|postal_code:10117`; `nil` if malformed.
    private static func components(_ text: String?) -> [(name: String, value: String)]? {
        var components: [(name: String, value: String)] = []
        for part in text?.split(ascii: "|") ?? [] {
            let pair = part.split(ascii: ":", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            components.append((pair[0].trimmingBlanks(), pair[1].trimmingBlanks()))
        }
        return components
    }

    /// The answer with the places found.
    private func answer(_ places: [GazetteerPlace]) -> HTTPResponse {
        guard !places.isEmpty else { return answer("ZERO_RESULTS") }
        return HTTPResponse(
            headers: ["Content-Type": "application/json; charset=UTF-8"],
            json: ["results": .array(places.prefix(10).map { GooglePlace(place: $0).json }), "status": "OK"]
        )
    }

    /// The answer with a status and no results.
    private func answer(_ status: String, httpStatus: Int = 200, message: String? = nil) -> HTTPResponse {
        var document = JSONObject()
        if let message { document["error_message"] = .string(message) }
        document["results"] = []
        document["status"] = .string(status)
        return HTTPResponse(
            status: httpStatus,
            headers: ["Content-Type": "application/json; charset=UTF-8"],
            json: .object(document)
        )
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        if let code {
            let usual = [
                "OVER_QUERY_LIMIT": "You have exceeded your rate-limit for this API.",
                "OVER_DAILY_LIMIT": "You have exceeded your daily request quota for this API.",
                "REQUEST_DENIED": "The provided API key is invalid. ",
                "UNKNOWN_ERROR": "Server Error",
            ]
            return answer(code, httpStatus: status ?? 200, message: message ?? usual[code])
        }
        let status = status ?? 500
        let reason = HTTPReason.text(of: status)
        return HTTPResponse(
            status: status,
            text: "<!DOCTYPE html>\n<html lang=en><title>Error \(status) (\(reason))!!1</title></html>\n",
            type: "text/html; charset=UTF-8"
        )
    }
}
