// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Google.
struct GoogleRequests {
    let endpoint: HTTPURL
    let key: SecretPlaceholder

    /// A request with neither an address nor a point, which Google does not bill.
    var emptyQuery: HTTPRequest { HTTPRequest(.get, url.with("key", key)) }

    /// The same request with another key.
    func emptyQuery(key: String) -> HTTPRequest { HTTPRequest(.get, url.with("key", key)) }

    func geocode(_ question: GeocodeRequest) -> HTTPRequest {
        var url = url
        var components: [String] = []
        switch question.subject {
        case .text(let text): url = url.with("address", text)
        case .address(let address): url = url.with("address", address.line)
        }
        if question.countries.count == 1 { components = question.countries.map { "country:\($0)" } }
        url = url.with("components", components.isEmpty ? nil : components.joined(separator: "|"))
        return HTTPRequest(.get, url.with("language", question.language).with("key", key))
    }

    func reverse(_ question: ReverseRequest) -> HTTPRequest {
        let (latitude, longitude) = question.coordinate.decimals
        let url = url.with("latlng", "\(latitude),\(longitude)").with("language", question.language)
        return HTTPRequest(.get, url.with("key", key))
    }

    private var url: HTTPURL { endpoint.appending(path: "/maps/api/geocode/json") }
}
