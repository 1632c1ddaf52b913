// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The routes of the service: places through a gate, and what the host says about itself.
struct PlaceAPI: Sendable {
    private let geocoder: any Geocoder
    private let host: ConnectorHost

    /// Finds the gate, which need not be open yet.
    init(_ host: ConnectorHost) throws(ConnectorError) {
        self.host = host
        geocoder = try host.geocoder("geocoder")
    }

    /// `GET /places?query=…&limit=…`, `GET /health` and `GET /metrics`.
    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("places") { request, _ in try await places(request) }
        router.get("health") { _, _ in health() }
        router.get("metrics") { _, _ in
            Self.response(host.prometheusText, "text/plain; version=0.0.4; charset=utf-8")
        }
        return router
    }

    private func places(_ request: Request) async throws -> Response {
        let parameters = request.uri.queryParameters
        guard let query = parameters["query"], !query.isEmpty else {
            throw HTTPError(.badRequest, message: "say what to find: /places?query=Berlin")
        }
        let limit = parameters["limit"].flatMap { Int($0) } ?? 5
        do throws(ConnectorError) {
            let places = try await geocoder.geocode(String(query), limit: limit)
            return Self.response(JSONValue.array(places.map(\.json)).serialized())
        } catch {
            throw error.httpError
        }
    }

    /// 503 while a required gate is not open, for a load balancer; the body says which, and why.
    private func health() -> Response {
        let report = host.report
        return Self.response(report.json.serialized(), status: report.isReady ? .ok : .serviceUnavailable)
    }

    private static func response(
        _ text: String,
        _ type: String = "application/json",
        status: HTTPResponse.Status = .ok
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

extension ConnectorError {
    /// What a client of the service learns: whose fault it is, and when another attempt may succeed.
    var httpError: HTTPError {
        guard isRetryable else { return HTTPError(code == .invalid ? .badRequest : .badGateway, message: message) }
        let wait = max(1, (retryAfter ?? .seconds(1)).components.seconds)
        return HTTPError(.serviceUnavailable, headers: [.retryAfter: "\(wait)"], message: message)
    }
}
