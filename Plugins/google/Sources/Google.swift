// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Queries the Geocoding API of Google Maps Platform (developers.google.com/maps/documentation/geocoding).
final class Google: GeocoderPlugin {
    private let host: Host
    private let requests: GoogleRequests
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = GoogleRequests(
            endpoint: try configuration.url("endpoint"),
            key: try configuration.secret("key")
        )
    }

    /// Sends a request without an address, which is free. If the API refuses the same request with a wrong key, the
    /// real key is proved.
    func open() async throws -> [Evidence] {
        let wrong = requests.emptyQuery(key: String(repeating: "0", count: 39))
        return try await keyCheck.evidence(reach(), refused: wrong, by: host.http) { response in
            (try? GoogleAnswer.read(response, now: host.clock.now))?["status"] == "REQUEST_DENIED"
        }
    }

    /// Sends only the real key: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    /// Throws if the API refuses the key. For an accepted key, the API reports that the address is missing.
    private func reach() async throws(PluginError) -> Evidence {
        let response = try await host.http.send(requests.emptyQuery)
        if try GoogleAnswer.read(response, now: host.clock.now)["status"] != "INVALID_REQUEST" {
            _ = try GoogleAnswer.places(response, now: host.clock.now)
        }
        return .reachable("the API answers, and did not refuse the key")
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
