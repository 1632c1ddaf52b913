// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Queries the geocoding API of OpenCage (opencagedata.com/api).
final class OpenCage: GeocoderPlugin {
    private let host: Host
    private let requests: OpenCageRequests
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = OpenCageRequests(
            endpoint: try configuration.url("endpoint"),
            key: try configuration.secret("key")
        )
    }

    /// Sends a request without a query, which finds nothing and so costs nothing. If the API refuses the same request with a wrong key, the
    /// real key is proved.
    func open() async throws -> [Evidence] {
        let wrong = requests.emptyQuery(key: String(repeating: "0", count: 32))
        return try await keyCheck.evidence(reach(), refused: wrong, by: host.http, isRefusal: OpenCageAnswer.refusesKey)
    }

    /// Sends only the real key: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    /// Throws if the API refuses the key. For an accepted key, the API reports that the query is missing.
    private func reach() async throws(PluginError) -> Evidence {
        _ = try read(OpenCageAnswer.missingQuery, await host.http.send(requests.emptyQuery))
        return .reachable("the API answers, and did not refuse the key")
    }

    func geocode(_ request: GeocodeRequest) async throws -> [Place] {
        try await places(requests.geocode(request), limit: request.limit)
    }

    /// The API returns only the best place at a point, whatever the limit.
    func reverse(_ request: ReverseRequest) async throws -> [Place] {
        try await places(requests.reverse(request), limit: request.limit)
    }

    private func places(_ request: HTTPRequest, limit: Int) async throws(PluginError) -> [Place] {
        let answer = try read(OpenCageAnswer.results, await host.http.send(request))
        return Array(try OpenCageAnswer.places(answer).prefix(limit))
    }

    private func read(_ expected: VendorAnswer, _ response: HTTPResponse) throws(PluginError) -> JSONValue {
        try expected.body(of: response) { OpenCageAnswer.failure($0, now: host.clock.now) }
    }
}
