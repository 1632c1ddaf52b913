// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Carries a request from a connection to the router and the answer back, or breaks the connection for a fault.
struct SimulatorResponder: Sendable {
    /// Answers requests.
    let router: SimulatorRouter
    /// The clock that slow answers wait on.
    let clock: any Clock<Duration>
    /// The wall clock.
    let now: @Sendable () -> Timestamp
    /// The most bytes of a body on the wire.
    let encodedLimit: Int

    /// Decides what becomes of a request: its body is read, and the vendor answers.
    func admit(_ head: ServerRequest) -> RequestAdmission {
        .read(
            limit: encodedLimit,
            tooLarge: { ServerResponse(router.refuseTooLarge(SimulatedRequest(head, receivedAt: now()))) },
            answer: { request in await answer(SimulatedRequest(request, receivedAt: now())) }
        )
    }

    private func answer(_ request: SimulatedRequest) async -> ServerResponse {
        if let preflight = Self.preflight(request) { return ServerResponse(preflight) }
        var exchange = router.answer(request)
        if exchange.delay > .zero {
            // Only the end of the connection wakes it early.
            guard (try? await clock.sleep(for: exchange.delay)) != nil else {
                return ServerResponse(status: 503, [:], .reset)
            }
        }
        if request.fields["Origin"] != nil, !request.isForReceived {
            exchange.response.headers["Access-Control-Allow-Origin"] = "*"
        }
        var response = ServerResponse(exchange.response)
        switch exchange.delivery {
        case .complete: break
        case .truncated: response.body = .truncated(exchange.response.body)
        case .reset: response.body = .reset
        }
        return response
    }

    /// Allows requests to a vendor from any web page, as the vendors do; `nil` when the request is not such a preflight.
    private static func preflight(_ request: SimulatedRequest) -> HTTPResponse? {
        guard request.method == "OPTIONS", !request.isForReceived,
            request.fields["Access-Control-Request-Method"] != nil
        else { return nil }
        var headers: HTTPFields = [
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
            "Access-Control-Max-Age": "3600",
        ]
        headers["Access-Control-Allow-Headers"] = request.fields["Access-Control-Request-Headers"]
        return HTTPResponse(status: 204, headers: headers)
    }
}

extension ServerResponse {
    /// Takes a vendor's answer.
    fileprivate init(_ response: HTTPResponse) {
        self.init(status: response.status, response.headers, .bytes(response.body))
    }
}
