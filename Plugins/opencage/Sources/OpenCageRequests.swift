// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to OpenCage.
struct OpenCageRequests {
    let endpoint: HTTPURL
    let key: SecretPlaceholder

    /// A request without a query, which the API answers with 400 once it has accepted the key.
    var emptyQuery: HTTPRequest { HTTPRequest(.get, url.with("key", key)) }

    /// The same request with another key.
    func emptyQuery(key: String) -> HTTPRequest { HTTPRequest(.get, url.with("key", key)) }

    func geocode(_ question: GeocodeRequest) -> HTTPRequest {
        let text =
            switch question.subject {
            case .text(let text): text
            case .address(let address): address.line
            }
        let countries = question.countries.map { $0.lowercased() }.joined(separator: ",")
        return request(text, language: question.language, limit: question.limit, countries: countries)
    }

    func reverse(_ question: ReverseRequest) -> HTTPRequest {
        let (latitude, longitude) = question.coordinate.decimals
        let query = "\(latitude),\(longitude)"
        return request(query, language: question.language, limit: question.limit, countries: "")
    }

    /// A request without annotations, such as time zones, and without a record of the query in the vendor's logs.
    private func request(_ query: String, language: String?, limit: Int, countries: String) -> HTTPRequest {
        let url = url.with("q", query).with("limit", "\(limit)").with("language", language)
            .with("countrycode", countries.isEmpty ? nil : countries)
        return HTTPRequest(.get, url.with("no_annotations", "1").with("no_record", "1").with("key", key))
    }

    private var url: HTTPURL { endpoint.appending(path: "/geocode/v1/json") }
}
