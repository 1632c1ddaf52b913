// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Nominatim's answers in the format `jsonv2`. Nominatim has no 404: a place that is not found is no failure.
enum NominatimAnswer {
    /// The server's health: 0 if it is healthy.
    static let status = answer(.object(#"with "status""#) { $0["status"]?.integer != nil })

    /// The answer to a search: places, possibly none.
    static let search = answer(.array("of places", isPlace))

    /// The answer to a reverse search: one place; without a match, HTTP 200 and `{"error":"Unable to geocode"}`.
    static let reverse = answer(.object("that is a place") { isPlace($0) || isNowhere($0) })

    private static func answer(_ form: VendorAnswer.Form) -> VendorAnswer {
        VendorAnswer("nominatim", [form], isMissing: { _ in false })
    }

    private static let isPlace: @Sendable (JSONValue) -> Bool = { $0["lat"] != nil && $0["lon"] != nil }

    private static func isNowhere(_ answer: JSONValue) -> Bool {
        answer["error"] == "Unable to geocode"
    }

    /// The places of a search.
    static func places(_ answer: JSONValue) throws(PluginError) -> [Place] {
        try Place.all(in: answer.array ?? [], of: "nominatim", read: place)
    }

    /// The place at a point, if there is one.
    static func reversed(_ answer: JSONValue) throws(PluginError) -> [Place] {
        try Place.all(in: isNowhere(answer) ? [] : [answer], of: "nominatim", read: place)
    }

    /// Whether an answer names no place.
    static func isEmpty(_ answer: JSONValue) -> Bool { answer.array?.isEmpty == true || isNowhere(answer) }

    /// The failure, with Nominatim's own `error.message`.
    static func failure(_ response: HTTPResponse, now: Timestamp) -> PluginError {
        let error = (try? response.json())?["error"]
        let words = error?["message"]?.string ?? error?.string
        var failure = response.failure(vendor: "nominatim", words: words, now: now)
        if response.status == 403 {
            // Without credentials, 403 means that the client breaks the public server's policy.
            failure.status = .denied
            failure.message += "; does userAgent name your application, and is the usage policy kept?"
        }
        return failure
    }

    private static func place(_ element: JSONValue) -> Place? {
        // The numbers are strings.
        guard let latitude = element["lat"]?.string.flatMap(Double.init) ?? element["lat"]?.number,
            let longitude = element["lon"]?.string.flatMap(Double.init) ?? element["lon"]?.number,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        return Place(
            coordinate,
            name: element["name"]?.string.flatMap { $0.isEmpty ? nil : $0 },
            formattedAddress: element["display_name"]?.string,
            components: components(element["address"] ?? .null),
            boundingBox: box(element["boundingbox"]),
            provider: "nominatim",
            attribution: element["licence"]?.string ?? "Data © OpenStreetMap contributors, ODbL 1.0",
            id: identifier(element)
        )
    }

    /// `N240109189`: the kind of the OpenStreetMap object and its number.
    private static func identifier(_ element: JSONValue) -> String? {
        guard let kind = element["osm_type"]?.string?.first, let number = element["osm_id"]?.integer else { return nil }
        return "\(kind.uppercased())\(number)"
    }

    /// South, north, west, east, as strings.
    private static func box(_ value: JSONValue?) -> BoundingBox? {
        let numbers = value?.array?.compactMap { $0.string.flatMap(Double.init) ?? $0.number } ?? []
        guard numbers.count == 4 else { return nil }
        return BoundingBox(south: numbers[0], west: numbers[2], north: numbers[1], east: numbers[3])
    }

    private static func components(_ address: JSONValue) -> AddressComponents {
        func first(_ names: String...) -> String? { names.lazy.compactMap { address[$0]?.string }.first }
        var components = AddressComponents()
        components.houseNumber = first("house_number")
        components.street = first("road", "pedestrian", "footway", "path", "square")
        components.district = first("suburb", "city_district", "borough", "quarter", "neighbourhood")
        components.city = first("city", "town", "village", "municipality", "hamlet")
        components.county = first("county", "state_district")
        components.state = first("state", "province", "region")
        components.postalCode = first("postcode")
        components.country = first("country")
        components.countryCode = first("country_code")?.uppercased()
        return components
    }
}
