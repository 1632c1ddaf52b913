// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Photon.
struct PhotonRequests {
    let endpoint: HTTPURL

    /// A request for the server's health.
    var status: HTTPRequest { HTTPRequest(.get, endpoint.appending("status")) }

    /// Photon takes only free text and cannot filter by country; to filter, request as many places as it returns.
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

    /// A preference, as the field has it: `lang` in the URL is refused if the server has not imported that language.
    private func request(_ url: HTTPURL, language: String?) -> HTTPRequest {
        HTTPRequest(.get, url, headers: language.map { ["Accept-Language": $0] } ?? [:])
    }
}
