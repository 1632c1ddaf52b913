// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Admission of requests, before their bodies are read.
extension WebResponder {
    /// The decision on a request, made from its head.
    enum Admission: Sendable {
        /// Respond without reading the body.
        case answer(WebResponse)
        /// Read the body, at most `limit` bytes, and respond.
        case read(limit: Int, answer: @Sendable (ServerRequest) async -> WebResponse)
    }

    /// Decides on a request. Runs on the connection's event loop and does not block.
    func admit(_ request: ServerRequest) -> Admission {
        guard origins.isHost(request.fields["Host"]) else {
            let sentence = "this server does not have that name; use the address in its link"
            return .answer(rejection(421, .denied, sentence, request))
        }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            var response = rejection(405, .unsupported, "only GET, HEAD and POST are supported", request)
            response.fields.append(("Allow", "GET, HEAD, POST"))
            return .answer(response)
        }
        guard !isForeign(request) else {
            return .answer(rejection(403, .denied, "the request comes from a page of another site", request))
        }
        if request.path == "/livez", request.method != "POST" { return .answer(WebResponse(text: "ok\n")) }
        if request.method == "GET", isPage(request.path), let token = request.parameters["token"] {
            guard authenticator.isLink(token) else { return .answer(exchange(token, request)) }
            // Announcing the next link may block, so this must not run on the event loop.
            return .read(limit: Self.entryLimit) { exchange(token, $0) }
        }
        let client = client(of: request)
        guard isExempt(request) || admits(client, request) else {
            return .answer(tooMany("too many requests", request))
        }
        if let response = publicAsset(request) { return .answer(response) }
        if request.path == "/-/enter" {
            guard request.method == "POST" else { return .answer(WebResponse(to: "/")) }
            return .read(limit: Self.entryLimit) { logIn($0) }
        }
        switch client {
        case .invalid(let kind):
            guard admitsFailure(kind, request) else { return .answer(tooMany("too many attempts", request)) }
            return .answer(unauthorized(request))
        case .anonymous: return .answer(unauthorized(request))
        case .authenticated(let right, let credential): return admit(request, right, credential)
        }
    }

    /// Whether a request is exempt from the rate limit: a readiness check must always get through.
    private func isExempt(_ request: ServerRequest) -> Bool { request.path == "/readyz" }

    /// Counts a request.
    ///
    /// - Returns: Whether it is within the rate limit of its client.
    private func admits(_ client: Client, _ request: ServerRequest) -> Bool {
        guard case .authenticated(_, let credential) = client else {
            return anonymousRequests.take(request.peer, at: clock.now())
        }
        return requests.take(credential.name, at: clock.now())
    }

    /// Decides on a request of an authenticated client.
    private func admit(_ request: ServerRequest, _ right: Right, _ credential: Authenticator.Credential) -> Admission {
        guard isAPI(request.path) else {
            return .read(limit: Self.bodyLimit) { request in
                // The client may have logged out before the body arrived.
                guard authenticator.isValid(credential) else { return unauthorized(request) }
                var response = await respond(request, right, credential)
                response.credential = credential
                return response
            }
        }
        guard let api else { return .answer(refusal(404, .missing, "this console has no API", request)) }
        if let endpoint = api.endpoint(for: request), endpoint.right == .act, right != .act {
            return .answer(refusal(403, .denied, "this token is read-only", request))
        }
        return .read(limit: ControlAPI.bodyLimit) { request in
            guard authenticator.isValid(credential) else { return unauthorized(request) }
            var response = WebResponse(await api.respond(request))
            response.credential = credential
            return response
        }
    }
}
