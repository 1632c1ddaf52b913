// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// OpenCage's answers, which repeat the HTTP status in `status.code`.
enum OpenCageAnswer {
    /// The answer to a search: places, possibly none.
    static let results = VendorAnswer(
        "opencage",
        [
            .object(#"with "results", and the status 200"#) {
                $0["results"]?.array != nil && $0["status"]?["code"] == 200
            }
        ],
        isMissing: { (try? $0.json())?["status"]?["code"] != nil }
    )

    /// The answer to a request without a query.
    static let missingQuery = VendorAnswer(
        "opencage",
        statuses: 400...400,
        [.object("with the status 400") { $0["status"]?["code"] == 400 }]
    )

    /// Whether the API refuses the key.
    static func refusesKey(_ response: HTTPResponse) -> Bool {
        response.status == 401 && (try? response.json())?["status"]?["code"] == 401
    }

    /// The failure, with OpenCage's own `status.message`.
    static func failure(_ response: HTTPResponse, now: Timestamp) -> PluginError {
        let body = try? response.json()
        var failure = response.failure(vendor: "opencage", words: body?["status"]?["message"]?.string, now: now)
        if response.status == 402 {
            (failure.status, failure.isRetryable) = (.rateLimited, true)
            failure.message += "; the quota of the key is used up"
            if let reset = body?["rate"]?["reset"]?.integer {
                let now = Int64(clamping: now.nanoseconds / 1_000_000_000)
                failure.retryAfter = .seconds(max(now, reset) - now)
            }
        }
        // OpenCage answers 410 to a request that is too long, not for a missing place.
        if response.status == 410 { failure.status = .tooLarge }
        return failure
    }

    /// The places of a search.
    static func places(_ answer: JSONValue) throws(PluginError) -> [Place] {
        try Place.all(in: answer["results"]?.array ?? [], of: "opencage", read: place)
    }

    private static func place(_ result: JSONValue) -> Place? {
        guard let coordinate = Coordinate(latLng: result["geometry"]) else { return nil }
        let parts = result["components"] ?? .null
        return Place(
            coordinate,
            name: parts["_type"]?.string.flatMap { parts[$0]?.string },
            formattedAddress: result["formatted"]?.string,
            components: components(parts),
            boundingBox: BoundingBox(latLng: result["bounds"]),
            provider: "opencage",
            attribution: "OpenCage, © OpenStreetMap contributors (opencagedata.com/credits)"
        )
    }

    private static func components(_ parts: JSONValue) -> AddressComponents {
        func first(_ names: String...) -> String? { names.lazy.compactMap { parts[$0]?.string }.first }
        var components = AddressComponents()
        components.houseNumber = first("house_number")
        components.street = first("road", "pedestrian", "footway")
        components.district = first("suburb", "city_district", "neighbourhood")
        components.city = first("city", "town", "village", "municipality", "_normalized_city")
        components.county = first("county")
        components.state = first("state")
        components.postalCode = first("postcode")
        components.country = first("country")
        components.countryCode = first("ISO_3166-1_alpha-2", "country_code")?.uppercased()
        return components
    }
}
