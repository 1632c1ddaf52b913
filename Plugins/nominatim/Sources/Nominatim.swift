// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Queries a Nominatim server (nominatim.org/release-docs/latest/api), within the usage policy of the public one.
struct Nominatim: GeocoderPlugin {
    private let host: Host
    private let requests: NominatimRequests
    private let pace: RequestPace
    private let cache: AnswerCache

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = NominatimRequests(
            endpoint: try configuration.url("endpoint"),
            userAgent: try configuration.string("userAgent")
        )
        guard requests.userAgent.contains(where: { !$0.isWhitespace }) else {
            throw PluginError(
                .invalid,
                "userAgent must name your application and a way to reach you",
                domain: "nominatim"
            )
        }
        pace = RequestPace(perSecond: try configuration.number("requestsPerSecond"), clock: host.clock)
        cache = AnswerCache(capacity: Int(clamping: try configuration.integer("cacheSize")), clock: host.clock)
    }

    /// Nominatim has no credentials, so an answer is the strongest evidence.
    func open() async throws -> [Evidence] {
        do throws(PluginError) {
            try await pace.wait()
        } catch {
            // Calls use every turn until this call's deadline; their answers prove just as much.
            guard error.status == .rateLimited, pace.isAnswered else { throw error }
            return [.reachable("the server has answered within the last minute, and calls wait for their turns")]
        }
        let status = try read(NominatimAnswer.status, await host.http.send(requests.status))
        guard status["status"]?.integer == 0 else {
            let words = status["message"]?.string ?? status.serialized()
            throw PluginError(.unavailable, "the server is not ready: \(words)", domain: "nominatim")
        }
        let data = status["data_updated"]?.string.map { ", data of \($0)" } ?? ""
        return [.reachable("the server says OK\(data)")]
    }

    func geocode(_ request: GeocodeRequest) async throws -> [Place] {
        try NominatimAnswer.places(await answer(requests.search(request), NominatimAnswer.search))
    }

    /// Nominatim returns only the best place at a point, whatever the limit.
    func reverse(_ request: ReverseRequest) async throws -> [Place] {
        try NominatimAnswer.reversed(await answer(requests.reverse(request), NominatimAnswer.reverse))
    }

    /// Answers from the cache, or else from the server within the rate limit. Caches only valid answers of Nominatim.
    private func answer(_ request: HTTPRequest, _ expected: VendorAnswer) async throws(PluginError) -> JSONValue {
        let key = request.url.description
        if let known = cache[key] { return known }
        try await pace.wait()
        let answer = try read(expected, await host.http.send(request))
        pace.noteAnswer()
        cache.keep(answer, for: key, isShort: NominatimAnswer.isEmpty(answer))
        return answer
    }

    private func read(_ expected: VendorAnswer, _ response: HTTPResponse) throws(PluginError) -> JSONValue {
        try expected.body(of: response) { NominatimAnswer.failure($0, now: host.clock.now) }
    }
}
