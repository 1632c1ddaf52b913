// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Passes a request from a connection to the router, and the answer back; for a fault, may break the connection.
struct SimulatorResponder: Sendable {
    /// Routes requests to the vendors.
    let router: SimulatorRouter
    /// The clock for delays of answers.
    let clock: any Clock<Duration>
    /// The wall clock.
    let now: @Sendable () -> Timestamp
    /// The maximum size of an encoded body, in bytes.
    let encodedLimit: Int

    /// Admits every request: its body is read, and the vendor answers.
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
            // The sleep ends early only if the connection closes.
            guard (try? await clock.sleep(for: exchange.delay)) != nil else {
                return ServerResponse(status: 503, [:], .reset)
            }
        }
        if request.fields["Origin"] != nil, !request.isForReceived {
            exchange.response.headers["Access-Control-Allow-Origin"] = "*"
        }
        var response = ServerResponse(exchange.response)
        switch exchange.delivery {
        case .complete:
            guard let stream = exchange.stream else { break }
            response.body = .stream { [clock] writer in try await stream(clock) { try await writer.write($0) } }
        case .truncated: response.body = .truncated(exchange.response.body)
        case .reset: response.body = .reset
        }
        return response
    }

    /// The answer to a CORS preflight, which allows any web page, as the vendors do; `nil` for any other request.
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
    /// Converts a vendor's answer.
    fileprivate init(_ response: HTTPResponse) {
        self.init(status: response.status, response.headers, .bytes(response.body))
    }
}
