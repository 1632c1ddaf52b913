// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Photon's API over the same gazetteer: `/api`, `/reverse`, `/status`; GeoJSON with the longitude first.
///
/// The last word of a search may be incomplete, because Photon is made for search as you type. Invalid parameters
/// return 400 with `{"message"}`. There are no credentials. Source: Photon's documentation and its sources.
struct PhotonVendor: Vendor {
    static let name = "photon"
    static let demoCredentials: [String: String] = [:]
    static let secretKeys: [String] = []

    /// The supported languages of names.
    private static let languages = ["default", "en", "de", "fr"]

    init(credentials: AcceptedCredentials) {}

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard request.method == "GET" else { return failure(status: 404) }
        let path = request.components
        if path == ["status"] {
            return HTTPResponse(json: ["status": "Ok", "import_date": "2026-01-01T00:00:00Z", "version": "1.0.0"])
        }
        guard path == ["api"] || path == ["reverse"] else { return failure(status: 404, message: "Endpoint not found") }
        let query = request.query
        if let language = query["lang"], !Self.languages.contains(language) {
            let known = Self.languages.joined(separator: ", ")
            return failure(
                status: 400,
                message: "language \(language) is not supported, supported languages are: \(known)"
            )
        }
        if let limit = query["limit"], Int(limit) == nil {
            return failure(status: 400, message: "invalid parameter 'limit', expected a number.")
        }
        let limit = query["limit"].flatMap { Int($0) }
        do throws(Refusal) {
            return path == ["api"] ? try search(query, limit: limit) : try reverse(query, limit: limit)
        } catch {
            return failure(status: 400, message: error.message)
        }
    }

    /// Finds places by text, of which the last word may be incomplete.
    private func search(_ query: QueryItems, limit: Int?) throws(Refusal) -> HTTPResponse {
        guard let text = query["q"], !text.trimmingBlanks().isEmpty else {
            return failure(status: 400, message: "missing search term 'q': /?q=berlin")
        }
        var places = try Self.filtered(Gazetteer.search(text, isPrefix: true), query)
        if let box = query["bbox"] {
            let numbers = box.split(ascii: ",").compactMap { Degrees.parse(String($0), limit: 180) }
            guard numbers.count == 4, numbers[0] <= numbers[2], numbers[1] <= numbers[3] else {
                let message =
                    "invalid number of supplied coordinates for parameter 'bbox', expected format is: minLon,minLat,maxLon,maxLat"
                return failure(status: 400, message: message)
            }
            places.removeAll { place in
                !(numbers[0]...numbers[2]).contains(place.longitude)
                    || !(numbers[1]...numbers[3]).contains(place.latitude)
            }
        }
        return answer(places.prefix(max(1, min(limit ?? 15, 50))))
    }

    /// Finds the places nearest to a coordinate.
    private func reverse(_ query: QueryItems, limit: Int?) throws(Refusal) -> HTTPResponse {
        guard query["lat"] != nil, query["lon"] != nil else {
            return failure(status: 400, message: "missing search term 'lat' and/or 'lon': /?lat=51.5&lon=8.0")
        }
        guard let latitude = Degrees.parse(query["lat"], limit: 90) else {
            return failure(status: 400, message: "invalid search term 'lat', expected number >= -90.0 and <= 90.0")
        }
        guard let longitude = Degrees.parse(query["lon"], limit: 180) else {
            return failure(status: 400, message: "invalid search term 'lon', expected number >= -180.0 and <= 180.0")
        }
        let kilometres = query["radius"].flatMap { Double($0) } ?? 1
        guard kilometres > 0, kilometres <= 5000 else {
            let message = "invalid search term 'radius', expected a strictly positive number."
            return failure(status: 400, message: message)
        }
        let found = Gazetteer.reverse(latitude: latitude, longitude: longitude, radius: kilometres * 1000)
        let places = try Self.filtered(found, query)
        return answer(places.prefix(max(1, min(limit ?? 1, 50))))
    }

    /// The places that the parameters `osm_tag` and `layer` allow.
    private static func filtered(_ places: [GazetteerPlace], _ query: QueryItems) throws(Refusal) -> [GazetteerPlace] {
        func values(_ name: String) -> [String] { query.items.filter { $0.name == name }.map(\.value) }
        var filters: [PhotonTagFilter] = []
        for text in values("osm_tag") {
            guard let filter = PhotonTagFilter(text) else {
                throw Refusal(message: "Invalid format for osm_tag parameter.")
            }
            filters.append(filter)
        }
        let layers = values("layer")
        if let other = layers.first(where: { !Self.layers.contains($0) }) {
            let known = Self.layers.joined(separator: ", ")
            throw Refusal(message: "Invalid layer '\(other)'. Allowed layers are: \(known)")
        }
        let (exclusions, inclusions) = (filters.filter(\.isExclusion), filters.filter { !$0.isExclusion })
        return places.filter { place in
            let tag = Self.tag(of: place)
            return (inclusions.isEmpty || inclusions.contains { $0.matches(tag) })
                && !exclusions.contains { $0.matches(tag) }
                && (layers.isEmpty || layers.contains(Self.layer(of: place)))
        }
    }

    private static let layers = [
        "house", "street", "locality", "district", "city", "county", "state", "country", "other",
    ]

    /// The layer that a place is in, which is the `type` of its answer.
    private static func layer(of place: GazetteerPlace) -> String { place.isArea ? "city" : "house" }

    /// The key and the value of a place in its answer. Photon has a city as a place, and not as the boundary around it.
    private static func tag(of place: GazetteerPlace) -> (key: String, value: String) {
        place.isArea ? ("place", "city") : place.tag
    }

    /// The answer with a collection of features.
    private func answer(_ places: some Sequence<GazetteerPlace>) -> HTTPResponse {
        let features = places.map { place -> JSONValue in
            let tag = Self.tag(of: place)
            var properties: JSONObject = [
                "osm_type": .string(String(place.osm.type.prefix(1)).uppercased()),
                "osm_id": .integer(place.osm.id),
                "osm_key": .string(tag.key),
                "osm_value": .string(tag.value),
                "type": .string(Self.layer(of: place)),
            ]
            let keys = [
                ("postcode", "postcode"), ("housenumber", "house_number"), ("street", "road"), ("district", "suburb"),
                ("city", "city"), ("county", "county"), ("state", "state"), ("country", "country"),
            ]
            for (name, key) in keys where !(place.isArea && name == "city") {
                properties[name] = place[key].map { .string($0) }
            }
            properties["countrycode"] = place["country_code"].map { .string($0.uppercased()) }
            properties["name"] = .string(place.name)
            let box = place.box
            properties["extent"] = .array([box.west, box.north, box.east, box.south].map { .number($0) })
            return ["type": "Feature", "properties": .object(properties), "geometry": NominatimFormat.point(place)]
        }
        return HTTPResponse(json: ["type": "FeatureCollection", "features": .array(features)])
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = message ?? code ?? HTTPReason.text(of: status)
        return HTTPResponse(status: status, json: ["message": .string(text)])
    }
}
