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
            tooLarge: {
                let request = SimulatedRequest(head, receivedAt: now())
                var response = router.refuseTooLarge(request)
                response.share(with: request)
                return ServerResponse(response)
            },
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
        exchange.response.share(with: request)
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
        var response = HTTPResponse(status: 204)
        response.share(with: request)
        response.headers.append("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
        response.headers.append("Access-Control-Max-Age", "3600")
        response.headers["Access-Control-Allow-Headers"] = request.fields["Access-Control-Request-Headers"]
        return response
    }
}

extension HTTPResponse {
    /// Lets the web page that sent a request read the response with all its fields, also if the page sends cookies with every request.
    ///
    /// For such a page, browsers refuse `*` in place of the origin and of the fields. A list of received requests is for no page.
    fileprivate mutating func share(with request: SimulatedRequest) {
        guard let origin = request.fields["Origin"], !request.isForReceived else { return }
        headers.remove("Access-Control-Expose-Headers")
        let names = headers.map(\.name).joined(separator: ", ")
        if !names.isEmpty { headers.append("Access-Control-Expose-Headers", names) }
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Allow-Credentials"] = "true"
        headers.append("Vary", "Origin")
    }
}

extension ServerResponse {
    /// Converts a vendor's answer.
    fileprivate init(_ response: HTTPResponse) {
        self.init(status: response.status, response.headers, .bytes(response.body))
    }
}
