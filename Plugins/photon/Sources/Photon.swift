// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Queries a Photon server (github.com/komoot/photon).
struct Photon: GeocoderPlugin {
    private let host: Host
    private let requests: PhotonRequests

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = PhotonRequests(endpoint: try configuration.url("endpoint"))
    }

    /// Photon has no credentials, so an answer is the strongest evidence. Older servers have no status, so `open` sends
    /// them a search.
    func open() async throws -> [Evidence] {
        let status = try await host.http.send(requests.status)
        guard status.status == 404 || status.status == 400 else {
            let words = try read(PhotonAnswer.status, status)["status"]?.string ?? ""
            return [.reachable("the server says \(words)")]
        }
        _ = try await places(requests.search(GeocodeRequest(.text("Bern"), limit: 1)))
        return [.reachable("the server answers searches")]
    }

    func geocode(_ request: GeocodeRequest) async throws -> [Place] {
        let places = try await places(requests.search(request))
        guard !request.countries.isEmpty else { return places }
        let matching = places.filter { request.countries.contains($0.components.countryCode ?? "") }
        return Array(matching.prefix(request.limit))
    }

    func reverse(_ request: ReverseRequest) async throws -> [Place] {
        try await places(requests.reverse(request))
    }

    private func places(_ request: HTTPRequest) async throws(PluginError) -> [Place] {
        try PhotonAnswer.places(read(PhotonAnswer.features, await host.http.send(request)))
    }

    private func read(_ expected: VendorAnswer, _ response: HTTPResponse) throws(PluginError) -> JSONValue {
        try expected.body(of: response) { PhotonAnswer.failure($0, now: host.clock.now) }
    }
}
