// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Nominatim.
struct NominatimRequests {
    let endpoint: HTTPURL
    let userAgent: String

    /// A request for the server's health.
    var status: HTTPRequest { request(endpoint.appending("status").with("format", "json"), language: nil) }

    func search(_ question: GeocodeRequest) -> HTTPRequest {
        var url = endpoint.appending("search").with("format", "jsonv2").with("addressdetails", "1")
        switch question.subject {
        case .text(let text): url = url.with("q", text)
        case .address(let address):
            url = url.with("street", address.street).with("city", address.city).with("county", address.county)
                .with("state", address.state).with("postalcode", address.postalCode).with("country", address.country)
        }
        if !question.countries.isEmpty {
            url = url.with("countrycodes", question.countries.joined(separator: ",").lowercased())
        }
        // Nominatim returns at most 40 places.
        return request(url.with("limit", "\(min(question.limit, 40))"), language: question.language)
    }

    func reverse(_ question: ReverseRequest) -> HTTPRequest {
        let (latitude, longitude) = question.coordinate.decimals
        let url = endpoint.appending("reverse").with("format", "jsonv2").with("addressdetails", "1")
            .with("lat", latitude).with("lon", longitude)
        return request(url, language: question.language)
    }

    private func request(_ url: HTTPURL, language: String?) -> HTTPRequest {
        HTTPRequest(.get, url.with("accept-language", language), headers: ["User-Agent": userAgent])
    }
}
