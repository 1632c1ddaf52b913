// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// OpenCage's geocoding API over the same gazetteer: `GET /geocode/v1/json`.
///
/// The query is text, or a coordinate as `LAT,LNG`. Every answer repeats its HTTP status in `status`: 400 without a query, 401
/// for a wrong key, 402 for an exhausted quota. Source: OpenCage's documentation (opencagedata.com/api) and its client libraries.
struct OpenCageVendor: Vendor {
    static let name = "opencage"
    static let demoCredentials = ["key": "0cdemokey0cdemokey0cdemokey0cdem"]
    static let secretKeys = ["key"]

    /// The keys that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard request.components == ["geocode", "v1", "json"] else { return failure(status: 404) }
        guard request.method == "GET" else { return failure(status: 405) }
        let query = request.query
        guard let key = query["key"], credentials.accepts("key", key) else { return failure(status: 401) }
        guard let text = query["q"]?.trimmingBlanks(), text.count >= 2 else {
            return answer(400, "missing or bad query")
        }
        let limit = query["limit"].flatMap { Int($0) } ?? 10
        guard (1...100).contains(limit) else { return answer(400, "limit must be from 1 to 100") }
        let countries = query["countrycode"].map { $0.lowercased().split(ascii: ",").map(String.init) } ?? []
        let found: [GazetteerPlace]
        if let point = Self.point(text) {
            found = Array(
                Gazetteer.reverse(latitude: point.latitude, longitude: point.longitude, radius: 500).prefix(1)
            )
        } else {
            found = Gazetteer.search(text).filter { place in
                countries.isEmpty || place["country_code"].map { countries.contains($0) } ?? false
            }
        }
        let least = query["min_confidence"].flatMap { Int($0) } ?? 0
        return answer(200, "OK", found.filter { Self.confidence(in: $0) >= least }.prefix(limit).map(Self.json))
    }

    /// The coordinate that a query gives; nil for text, which includes numbers with exponents.
    private static func point(_ text: String) -> (latitude: Double, longitude: Double)? {
        let parts = text.split { $0 == "," || $0 == "+" || $0 == " " }.map { String($0) }
        guard parts.count == 2, let latitude = Degrees.parseDecimal(parts[0], limit: 90),
            let longitude = Degrees.parseDecimal(parts[1], limit: 180)
        else { return nil }
        return (latitude, longitude)
    }

    /// How exact the position of a place is, from 1 to 10.
    private static func confidence(in place: GazetteerPlace) -> Int { place.isArea ? 4 : 9 }

    /// A place in OpenCage's format.
    private static func json(_ place: GazetteerPlace) -> JSONValue {
        let box = place.box
        let kind = place.isArea ? "city" : place.tag.key
        var components = JSONObject()
        for part in place.details { components[part.key] = .string(part.value) }
        components["ISO_3166-1_alpha-2"] = place["country_code"].map { .string($0.uppercased()) }
        components["_type"] = .string(kind)
        return [
            "bounds": [
                "northeast": ["lat": .number(box.north), "lng": .number(box.east)],
                "southwest": ["lat": .number(box.south), "lng": .number(box.west)],
            ],
            "components": .object(components),
            "confidence": .integer(Int64(confidence(in: place))),
            "formatted": .string(place.displayName),
            "geometry": ["lat": .number(place.latitude), "lng": .number(place.longitude)],
        ]
    }

    /// The answer with a status, a message and results.
    ///
    /// - Parameter httpStatus: The HTTP status, where a fault makes it differ from the document's; nil for the same.
    private func answer(
        _ status: Int,
        _ message: String,
        _ results: [JSONValue] = [],
        httpStatus: Int? = nil
    ) -> HTTPResponse {
        var document: JSONObject = [
            "documentation": "https://opencagedata.com/api",
            "licenses": [["name": "see attribution guide", "url": "https://opencagedata.com/credits"]],
        ]
        if status == 200 || status == 402 {
            document["rate"] = ["limit": 2500, "remaining": status == 200 ? 2499 : 0, "reset": 4_102_444_800]
        }
        document["results"] = .array(results)
        document["status"] = ["code": .integer(Int64(status)), "message": .string(message)]
        document["total_results"] = .integer(Int64(results.count))
        return HTTPResponse(
            status: httpStatus ?? status,
            headers: ["Content-Type": "application/json; charset=utf-8"],
            json: .object(document)
        )
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let code = status.map { $0 >= 400 ? $0 : 503 } ?? 503
        let usual = [
            401: "invalid API key", 402: "quota exceeded", 403: "suspended", 404: "invalid API endpoint",
            429: "too many requests",
        ]
        return answer(code, message ?? usual[code] ?? HTTPReason.text(of: code), httpStatus: status)
    }
}
