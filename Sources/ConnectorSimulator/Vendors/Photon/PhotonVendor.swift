// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer

/// Photon's API over the same gazetteer: `/api`, `/reverse`, `/status`; GeoJSON with the longitude first.
///
/// The last word of a search may be incomplete, because Photon is made for search as you type. Invalid parameters
/// return 400 with `{"message"}`. There are no credentials. Source: Photon's documentation and its sources.
package struct PhotonVendor: Vendor {
    package static let name = "photon"
    package static let demoCredentials: [String: String] = [:]
    package static let secretKeys: [String] = []

    /// The supported languages of names.
    private static let languages = ["default", "en", "de", "fr"]

    package init(credentials: AcceptedCredentials) {}

    package func respond(to request: SimulatedRequest) -> HTTPResponse {
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
        return path == ["api"] ? search(query, limit: limit) : reverse(query, limit: limit)
    }

    /// Finds places by text, of which the last word may be incomplete.
    private func search(_ query: QueryItems, limit: Int?) -> HTTPResponse {
        guard let text = query["q"], !text.trimmingBlanks().isEmpty else {
            return failure(status: 400, message: "missing search term 'q': /?q=berlin")
        }
        var places = Gazetteer.search(text, isPrefix: true)
        if let tag = query["osm_tag"] {
            places.removeAll { !Self.matches($0, tag: tag) }
        }
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
    private func reverse(_ query: QueryItems, limit: Int?) -> HTTPResponse {
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
        let places = Gazetteer.reverse(latitude: latitude, longitude: longitude, radius: kilometres * 1000)
        return answer(places.prefix(max(1, min(limit ?? 1, 50))))
    }

    /// Whether a place matches a tag filter: `key`, `key:value` or `:value`, optionally negated by `!`.
    private static func matches(_ place: GazetteerPlace, tag: String) -> Bool {
        let isNegated = tag.starts(ascii: "!")
        let filter = Substring(tag.utf8.drop { $0 == UInt8(ascii: "!") })
        let parts = filter.split(ascii: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let isKey = parts[0].isEmpty || parts[0] == place.tag.key
        let isValue = parts.count < 2 || parts[1] == place.tag.value
        return (isKey && isValue) != isNegated
    }

    /// The answer with a collection of features.
    private func answer(_ places: some Sequence<GazetteerPlace>) -> HTTPResponse {
        let features = places.map { place -> JSONValue in
            var properties: JSONObject = [
                "osm_type": .string(String(place.osm.type.prefix(1)).uppercased()),
                "osm_id": .integer(place.osm.id),
                "osm_key": .string(place.isArea ? "place" : place.tag.key),
                "osm_value": .string(place.isArea ? "city" : place.tag.value),
                "type": .string(place.isArea ? "city" : "house"),
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

    package func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = message ?? code ?? HTTPReason.text(of: status)
        return HTTPResponse(status: status, json: ["message": .string(text)])
    }
}
