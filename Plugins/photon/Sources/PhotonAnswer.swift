// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Photon's answers: GeoJSON (RFC 7946), where longitude comes first. A place that is not found is no failure, so no 404 is Photon's.
enum PhotonAnswer {
    /// The server's health.
    static let status = answer(.object(#"with "status""#) { $0["status"]?.string != nil })

    /// The answer to a search or a reverse search.
    static let features = answer(.object(#"with "features""#) { $0["features"]?.array != nil })

    private static func answer(_ form: VendorAnswer.Form) -> VendorAnswer {
        // An object with only a `message` is also what Photon says.
        VendorAnswer("photon", [form], isRefusal: { (try? $0.json())?.object != nil }, isMissing: { _ in false })
    }

    /// The places of a search or a reverse search.
    static func places(_ answer: JSONValue) throws(PluginError) -> [Place] {
        try Place.all(in: answer["features"]?.array ?? [], of: "photon", read: place)
    }

    /// The error, with Photon's own `message`, which newer servers put in a list under the name of what they refuse.
    static func failure(_ response: HTTPResponse, now: Timestamp) -> PluginError {
        let body = try? response.json()
        let words = body?["message"] ?? body?.object?.members.first?.value[0]?["message"]
        return response.failure(vendor: "photon", words: words?.string, now: now)
    }

    private static func place(_ feature: JSONValue) -> Place? {
        let point = feature["geometry"]?["coordinates"]
        guard let longitude = point?[0]?.number, let latitude = point?[1]?.number,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        let properties = feature["properties"] ?? .null
        let components = components(properties)
        let name = properties["name"]?.string
        return Place(
            coordinate,
            name: name,
            formattedAddress: formattedAddress(name, components),
            components: components,
            boundingBox: box(properties["extent"]),
            provider: "photon",
            attribution: "Data © OpenStreetMap contributors, ODbL 1.0",
            id: identifier(properties)
        )
    }

    /// `N240109189`: the kind of the OpenStreetMap object and its number.
    private static func identifier(_ properties: JSONValue) -> String? {
        guard let kind = properties["osm_type"]?.string, let number = properties["osm_id"]?.integer else { return nil }
        return "\(kind)\(number)"
    }

    /// West, north, east, south.
    private static func box(_ value: JSONValue?) -> BoundingBox? {
        let numbers = value?.array?.compactMap(\.number) ?? []
        guard numbers.count == 4 else { return nil }
        return BoundingBox(south: numbers[3], west: numbers[0], north: numbers[1], east: numbers[2])
    }

    private static func components(_ properties: JSONValue) -> AddressComponents {
        let name = properties["name"]?.string
        var components = AddressComponents()
        components.houseNumber = properties["housenumber"]?.string
        components.street = properties["street"]?.string
        components.district = properties["district"]?.string ?? properties["locality"]?.string
        components.city = properties["city"]?.string
        components.county = properties["county"]?.string
        components.state = properties["state"]?.string
        components.postalCode = properties["postcode"]?.string
        components.country = properties["country"]?.string
        components.countryCode = properties["countrycode"]?.string?.uppercased()
        // A feature that is a city or a street does not repeat its name in the address.
        switch properties["type"]?.string {
        case "city": components.city = components.city ?? name
        case "street": components.street = components.street ?? name
        default: break
        }
        return components
    }

    /// The address in one line, which clients of Photon must format themselves.
    private static func formattedAddress(_ name: String?, _ components: AddressComponents) -> String? {
        let street = [components.street, components.houseNumber].compactMap(\.self).joined(separator: " ")
        let city = [components.postalCode, components.city].compactMap(\.self).joined(separator: " ")
        var parts: [String] = []
        for part in [name, street, city, components.state, components.country] {
            if let part, !part.isEmpty, !parts.contains(part) { parts.append(part) }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
