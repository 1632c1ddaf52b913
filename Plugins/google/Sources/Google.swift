// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Asks the Geocoding API of Google Maps Platform (developers.google.com/maps/documentation/geocoding).
struct Google: GeocoderPlugin {
    private let host: Host
    private let requests: GoogleRequests

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = GoogleRequests(
            endpoint: try configuration.url("endpoint"),
            key: try configuration.secret("key")
        )
    }

    /// Geocodes a fixed address, which Google bills as one request and answers only for an accepted key.
    func open() async throws -> [Evidence] {
        _ = try await places(requests.geocode(GeocodeRequest(.text("1600 Amphitheatre Parkway, Mountain View, CA"))))
        return [.authenticated("the key was accepted for a geocoding request")]
    }

    /// Sends a request without an address, which is free: Google refuses a wrong key, and tells any other that the
    /// address is missing.
    func probe() async throws -> [Evidence] {
        let response = try await host.http.send(requests.nothing)
        if try GoogleAnswer.read(response, now: host.clock.now)["status"] != "INVALID_REQUEST" {
            _ = try GoogleAnswer.places(response, now: host.clock.now)
        }
        return [.reachable("the API answers, and did not refuse the key")]
    }

    func geocode(_ request: GeocodeRequest) async throws -> [Place] {
        let places = try await places(requests.geocode(request))
        guard request.countries.count > 1 else { return Array(places.prefix(request.limit)) }
        // The API can filter by only one country.
        let matching = places.filter { request.countries.contains($0.components.countryCode ?? "") }
        return Array(matching.prefix(request.limit))
    }

    func reverse(_ request: ReverseRequest) async throws -> [Place] {
        Array(try await places(requests.reverse(request)).prefix(request.limit))
    }

    private func places(_ request: HTTPRequest) async throws(PluginError) -> [Place] {
        try GoogleAnswer.places(await host.http.send(request), now: host.clock.now)
    }
}
