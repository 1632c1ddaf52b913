// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Admission of requests, before their bodies are read.
extension WebResponder {
    /// Decides on a request. Runs on the connection's event loop and does not block.
    func admit(_ request: ServerRequest) -> RequestAdmission {
        guard origins.isHost(request.fields["Host"]) else {
            let sentence = "this server does not have that name; use the address in its link"
            return .answer(rejection(421, .denied, sentence, request))
        }
        // The API knows the methods of its paths.
        guard ["GET", "HEAD", "POST"].contains(request.method) || isAPI(request.path) else {
            var response = rejection(405, .unsupported, "only GET, HEAD and POST are supported", request)
            response.fields.append("Allow", "GET, HEAD, POST")
            return .answer(response)
        }
        guard !isForeign(request) else {
            return .answer(rejection(403, .denied, "the request comes from a page of another site", request))
        }
        if request.path == ControlAPI.livenessPath, request.method != "POST" {
            return .answer(ServerResponse(text: "ok\n"))
        }
        if request.method == "GET", isPage(request.path), let token = request.parameters["token"] {
            guard authenticator.isLink(token) else { return .answer(exchange(token, request)) }
            // Announcing the next link may block, so this must not run on the event loop.
            return read(request, limit: Self.entryLimit) { exchange(token, $0) }
        }
        let client = client(of: request)
        guard isExempt(request) || admits(client, request) else {
            return .answer(tooMany("too many requests", request))
        }
        if let response = publicAsset(request) { return .answer(response) }
        if request.path == "/-/enter" {
            guard request.method == "POST" else { return .answer(ServerResponse(to: "/")) }
            return read(request, limit: Self.entryLimit) { logIn($0) }
        }
        switch client {
        case .invalid(let kind):
            guard admitsFailure(kind, request) else { return .answer(tooMany("too many attempts", request)) }
            return .answer(unauthorized(request))
        case .anonymous: return .answer(unauthorized(request))
        case .authenticated(let permission, let credential): return admit(request, permission, credential)
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
    private func admit(
        _ request: ServerRequest,
        _ permission: Permission,
        _ credential: Authenticator.Credential
    ) -> RequestAdmission {
        guard isAPI(request.path) else {
            return read(request, limit: Self.bodyLimit) { request in
                // The client may have logged out before the body arrived.
                guard authenticator.isValid(credential) else { return unauthorized(request) }
                return leased(await respond(request, permission, credential), to: credential)
            }
        }
        guard let api else { return .answer(refusal(404, .missing, "this console has no API", request)) }
        if let endpoint = api.endpoint(for: request), endpoint.permission == .act, permission != .act {
            return .answer(refusal(403, .denied, "this token is read-only", request))
        }
        return read(request, limit: ControlAPI.bodyLimit) { request in
            guard authenticator.isValid(credential) else { return unauthorized(request) }
            return leased(await api.respond(request), to: credential)
        }
    }

    /// The decision to read a body and to respond then.
    private func read(
        _ request: ServerRequest,
        limit: Int,
        _ answer: @escaping @Sendable (ServerRequest) async -> ServerResponse
    ) -> RequestAdmission {
        .read(limit: limit, tooLarge: { tooLarge(request, limit: limit) }, answer: answer)
    }

    /// A response whose stream ends when the client's credential becomes invalid, or earlier if nothing is left to write.
    private func leased(_ response: ServerResponse, to credential: Authenticator.Credential) -> ServerResponse {
        guard case .stream(let write) = response.body else { return response }
        var response = response
        response.body = .stream { [authenticator] writer in
            guard let lease = authenticator.lease(credential) else { return }
            try await withThrowingTaskGroup { group in
                group.addTask { try await write(writer) }
                group.addTask { for await _ in lease {} }
                try await group.next()
                group.cancelAll()
            }
        }
        return response
    }
}
