// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Nominatim's API over a small gazetteer: `/search`, `/reverse`, `/lookup`, `/status`.
///
/// Without a match, a search returns an empty list, and a reverse search 200 with `{"error":"Unable to geocode"}`.
/// Invalid parameters return 400 with `{"error":{"code","message"}}`. There are no credentials. Source: Nominatim's
/// documentation and its sources.
struct NominatimVendor: Vendor {
    static let name = "nominatim"
    static let demoCredentials: [String: String] = [:]
    static let secretKeys: [String] = []

    init(credentials: AcceptedCredentials) {}

    static func configuration(baseURL: String) -> [String: String] {
        ["endpoint": baseURL, "userAgent": "simulated/1.0"]
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard request.method == "GET" || request.method == "POST" else { return HTTPResponse(status: 405) }
        let name = request.components.last.map { $0.hasSuffix(".php") ? String($0.dropLast(4)) : $0 }
        guard request.components.count == 1 else { return failure(status: 404) }
        do {
            switch name {
            case "search": return try search(request)
            case "reverse": return try reverse(request)
            case "lookup": return try lookup(request)
            case "status": return status(request)
            default: return failure(status: 404)
            }
        } catch {
            return failure(status: 400, message: error.message)
        }
    }

    /// Finds places by free text, or by the parts of an address.
    private func search(_ request: SimulatedRequest) throws(Refusal) -> HTTPResponse {
        let query = request.query
        let format = try format(of: query, default: .jsonv2)
        let limit = max(1, min(try number(query, "limit") ?? 10, 50))
        let structured = [
            ("amenity", ["amenity"]), ("street", ["house_number", "road"]), ("city", ["city", "town"]),
            ("county", ["county"]), ("state", ["state"]), ("country", ["country", "country_code"]),
            ("postalcode", ["postcode"]),
        ]
        let parts = structured.compactMap { name, keys in query[name].map { (keys: keys, text: $0) } }
        let text = query["q"]?.trimmingBlanks() ?? ""
        guard text.isEmpty || parts.isEmpty else {
            throw Refusal(
                message: "Structured query parameters (amenity, street, city, county, state, postalcode, country)"
                    + " cannot be used together with 'q' parameter."
            )
        }
        guard !text.isEmpty || parts.contains(where: { !$0.text.isEmpty }) else {
            throw Refusal(message: "Nothing to search for.")
        }
        var places: [GazetteerPlace]
        if let coordinate = Self.coordinate(text) {
            places = Array(Gazetteer.reverse(latitude: coordinate.0, longitude: coordinate.1, radius: 200).prefix(1))
        } else {
            places = parts.isEmpty ? Gazetteer.search(text) : Gazetteer.search(structured: parts)
        }
        let codes = query["countrycodes"]?.split(ascii: ",").map { $0.trimmingBlanks().lowercased() } ?? []
        if !codes.isEmpty { places.removeAll { !codes.contains($0["country_code"] ?? "") } }
        if let box = Self.box(query["viewbox"]), Self.isTrue(query["bounded"]) {
            places.removeAll {
                !(box.south...box.north).contains($0.latitude) || !(box.west...box.east).contains($0.longitude)
            }
        }
        let excluded = query["exclude_place_ids"]?.split(ascii: ",").compactMap { Int64($0.trimmingBlanks()) } ?? []
        places.removeAll { excluded.contains($0.placeID) }
        let document = format.document(Array(places.prefix(limit)), details: Self.isTrue(query["addressdetails"]))
        return answer(document, query, format)
    }

    /// Finds the place at a coordinate.
    private func reverse(_ request: SimulatedRequest) throws(Refusal) -> HTTPResponse {
        let query = request.query
        let format = try format(of: query, default: .xml)
        let latitude = try degrees(query, "lat", limit: 90)
        let longitude = try degrees(query, "lon", limit: 180)
        let zoom = try number(query, "zoom") ?? 18
        let found = Gazetteer.reverse(latitude: latitude, longitude: longitude, radius: 500, onlyAreas: zoom < 15)
        guard let place = found.first else { return answer(["error": "Unable to geocode"], query, format) }
        let details = query["addressdetails"].map { Self.isTrue($0) } ?? true
        return answer(format.single(place, details: details), query, format)
    }

    /// Finds places by their OpenStreetMap ids.
    private func lookup(_ request: SimulatedRequest) throws(Refusal) -> HTTPResponse {
        let format = try format(of: request.query, default: .xml)
        guard let text = request.query["osm_ids"] else { throw Refusal(message: "Parameter 'osm_ids' missing.") }
        let ids = text.split(ascii: ",").prefix(50).map { $0.trimmingBlanks() }
        let places = ids.compactMap { id in
            id.first.flatMap { type in Int64(id.dropFirst()).flatMap { Gazetteer.lookup(type: type, id: $0) } }
        }
        let details = request.query["addressdetails"].map { Self.isTrue($0) } ?? true
        return answer(format.document(places, details: details), request.query, format)
    }

    /// The server's health.
    private func status(_ request: SimulatedRequest) -> HTTPResponse {
        guard request.query["format"] == "json" else { return HTTPResponse(text: "OK") }
        return HTTPResponse(json: [
            "status": 0, "message": "OK", "data_updated": "2026-01-01T00:00:00+00:00", "software_version": "5.1.0-0",
            "database_version": "5.1.0-0",
        ])
    }

    /// Serializes a document as JSON or, if requested, XML or JSONP.
    private func answer(_ document: JSONValue, _ query: QueryItems, _ format: NominatimFormat) -> HTTPResponse {
        if format == .xml {
            return HTTPResponse(text: NominatimXML.text(document, query: query), type: "text/xml; charset=utf-8")
        }
        let type = "application/json; charset=utf-8"
        if let callback = query["json_callback"], callback.utf8.allSatisfy({ $0.isWordCharacter }) {
            return HTTPResponse(text: "\(callback)(\(document.serialized()))", type: "application/javascript")
        }
        return HTTPResponse(headers: ["Content-Type": type], json: document)
    }

    /// The requested format.
    private func format(of query: QueryItems, default usual: NominatimFormat) throws(Refusal) -> NominatimFormat {
        guard let name = query["format"] else { return usual }
        guard let format = NominatimFormat(rawValue: name) else {
            throw Refusal(message: "Parameter 'format' must be one of: xml, geojson, geocodejson, json, jsonv2")
        }
        return format
    }

    /// An optional parameter, which must be a whole number.
    private func number(_ query: QueryItems, _ name: String) throws(Refusal) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text) else { throw Refusal(message: "Parameter '\(name)' must be a number.") }
        return number
    }

    /// A required parameter in degrees.
    private func degrees(_ query: QueryItems, _ name: String, limit: Double) throws(Refusal) -> Double {
        guard let text = query[name] else { throw Refusal(message: "Parameter '\(name)' missing.") }
        guard let number = Double(text), number.isFinite else {
            throw Refusal(message: "Parameter '\(name)' must be a number.")
        }
        guard number.magnitude <= limit else { throw Refusal(message: "Parameter '\(name)' is out of range.") }
        return number
    }

    /// Parses a search text of two numbers, latitude first; `nil` for any other text.
    private static func coordinate(_ text: String) -> (Double, Double)? {
        let parts = text.split { $0 == "," || $0 == " " }
        guard parts.count == 2, let latitude = Degrees.parse(String(parts[0]), limit: 90),
            let longitude = Degrees.parse(String(parts[1]), limit: 180)
        else { return nil }
        return (latitude, longitude)
    }

    /// Parses two opposite corners, `x1,y1,x2,y2`, in any order.
    private static func box(_ text: String?) -> (south: Double, north: Double, west: Double, east: Double)? {
        let numbers = text?.split(ascii: ",").compactMap { Degrees.parse(String($0), limit: 180) } ?? []
        guard numbers.count == 4 else { return nil }
        let (west, east) = (min(numbers[0], numbers[2]), max(numbers[0], numbers[2]))
        let (south, north) = (min(numbers[1], numbers[3]), max(numbers[1], numbers[3]))
        return (south, north, west, east)
    }

    /// Whether a parameter is neither `0` nor empty nor absent.
    private static func isTrue(_ text: String?) -> Bool {
        text.map { $0 != "0" && !$0.isEmpty } ?? false
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = message ?? code ?? HTTPReason.text(of: status)
        // The public service answers 429 to clients that ask too often; Nominatim itself does not.
        guard status < 500, status != 429 else {
            return HTTPResponse(
                status: status,
                text: "<html><head><title>\(status) \(text)</title></head><body><h1>\(text)</h1></body></html>\n",
                type: "text/html"
            )
        }
        return HTTPResponse(
            status: status,
            headers: ["Content-Type": "application/json; charset=utf-8"],
            json: ["error": ["code": .integer(Int64(status)), "message": .string(text)]]
        )
    }
}
