// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Photon.
struct PhotonRequests {
    let endpoint: HTTPURL

    /// A request for the server's health.
    var status: HTTPRequest { HTTPRequest(.get, endpoint.appending("status")) }

    /// Photon takes only free text and cannot filter by country; for the caller to filter, the request asks for as many
    /// places as Photon returns.
    func search(_ question: GeocodeRequest) -> HTTPRequest {
        let text =
            switch question.subject {
            case .text(let text): text
            case .address(let address): address.line
            }
        let limit = question.countries.isEmpty ? question.limit : 50
        let url = endpoint.appending("api").with("q", text).with("limit", "\(limit)")
        return request(url, language: question.language)
    }

    func reverse(_ question: ReverseRequest) -> HTTPRequest {
        let (latitude, longitude) = question.coordinate.decimals
        let url = endpoint.appending("reverse").with("lat", latitude).with("lon", longitude)
            .with("limit", "\(question.limit)")
        return request(url, language: question.language)
    }

    /// Sends the language as a mere preference, in `Accept-Language`: a server refuses `lang` in the URL for a language
    /// that it has not imported.
    private func request(_ url: HTTPURL, language: String?) -> HTTPRequest {
        HTTPRequest(.get, url, headers: language.map { ["Accept-Language": $0] } ?? [:])
    }
}
