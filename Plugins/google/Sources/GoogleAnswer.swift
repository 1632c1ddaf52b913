// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Google's answers, whose status is in the body, regardless of the HTTP status.
enum GoogleAnswer {
    /// Any answer from Google, with any HTTP status. Google has no 404: a place that is not found is no failure.
    private static let answer = VendorAnswer(
        "google",
        statuses: 100...999,
        [
            .object(#"with "status", and "results" if that is "OK""#) { body in
                body["status"]?.string.map { $0 != "OK" || body["results"]?.array != nil } ?? false
            }
        ],
        isMissing: { _ in false }
    )

    private static let failures: [String: (status: PluginStatus, isRetryable: Bool)] = [
        "OVER_QUERY_LIMIT": (.rateLimited, true), "OVER_DAILY_LIMIT": (.rateLimited, true),
        "REQUEST_DENIED": (.unauthorized, false), "INVALID_REQUEST": (.invalid, false),
        "UNKNOWN_ERROR": (.unavailable, true),
    ]

    /// The body of an answer from Google, with any status. The error for any other answer has the words of Google's front end, or the
    /// title of a gateway's page.
    static func read(_ response: HTTPResponse, now: Timestamp) throws(PluginError) -> JSONValue {
        try answer.body(of: response) { response in
            let words = (try? response.json())?["error"]?["message"]?.string ?? response.title
            return response.failure(vendor: "google", words: words, now: now)
        }
    }

    /// The places of an answer; `ZERO_RESULTS` means none.
    static func places(_ response: HTTPResponse, now: Timestamp) throws(PluginError) -> [Place] {
        let answer = try read(response, now: now)
        let status = answer["status"]?.string ?? ""
        switch status {
        case "ZERO_RESULTS": return []
        case "OK": return try Place.all(in: answer["results"]?.array ?? [], of: "google", read: place)
        default:
            let words = answer["error_message"]?.string.map { ": \($0)" } ?? ""
            // In the words of another server, the HTTP status says more.
            if failures[status] == nil, response.status == 429 || response.status >= 500 {
                throw response.failure(vendor: "google", words: "\(status)\(words)", now: now)
            }
            let known = failures[status] ?? (.failed, false)
            throw PluginError(
                known.status,
                "google answered \(status)\(words)",
                isRetryable: known.isRetryable,
                retryAfter: response.retryAfter(now: now),
                domain: "google",
                detail: Int32(clamping: response.status)
            )
        }
    }

    private static func place(_ result: JSONValue) -> Place? {
        guard let coordinate = Coordinate(latLng: result["geometry"]?["location"]) else { return nil }
        let viewport = result["geometry"]?["bounds"] ?? result["geometry"]?["viewport"]
        return Place(
            coordinate,
            name: name(result),
            formattedAddress: result["formatted_address"]?.string,
            components: components(result["address_components"]?.array ?? []),
            boundingBox: BoundingBox(latLng: viewport),
            provider: "google",
            attribution: "Google",
            id: result["place_id"]?.string
        )
    }

    /// The first part of the address, unless it is a house number.
    private static func name(_ result: JSONValue) -> String? {
        let first = result["address_components"]?[0]
        guard first?["types"]?.array?.contains("street_number") == false else { return nil }
        return first?["long_name"]?.string
    }

    private static func components(_ parts: [JSONValue]) -> AddressComponents {
        func part(_ types: String..., name: String = "long_name") -> String? {
            for type in types {
                let found = parts.first { part in part["types"]?.array?.contains(.string(type)) == true }
                if let text = found?[name]?.string { return text }
            }
            return nil
        }
        var components = AddressComponents()
        components.houseNumber = part("street_number")
        components.street = part("route")
        components.district = part("sublocality", "sublocality_level_1", "neighborhood")
        components.city = part("locality", "postal_town")
        components.county = part("administrative_area_level_2")
        components.state = part("administrative_area_level_1")
        components.postalCode = part("postal_code")
        components.country = part("country")
        components.countryCode = part("country", name: "short_name")
        return components
    }
}
