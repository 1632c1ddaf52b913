// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Which requests are answered at all.
extension WebResponder {
    /// What becomes of a request, by its head.
    enum Admission: Sendable {
        /// The answer is known.
        case answer(WebResponse)
        /// It is, once the body was read.
        case read(limit: Int, answer: @Sendable (ServerRequest) async -> WebResponse)
    }

    /// Decides what becomes of a request. Does not wait.
    func admit(_ request: ServerRequest) -> Admission {
        guard origins.isHost(request.fields["Host"]) else {
            let sentence = "this server is not called that; ask for it by the address in its link"
            return .answer(rejection(421, .denied, sentence, request))
        }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            var response = rejection(405, .unsupported, "only GET, HEAD and POST are answered", request)
            response.fields.append(("Allow", "GET, HEAD, POST"))
            return .answer(response)
        }
        guard !isForeign(request) else {
            return .answer(rejection(403, .denied, "the request comes from a page of another site", request))
        }
        if request.path == "/livez", request.method != "POST" { return .answer(WebResponse(text: "ok\n")) }
        if request.method == "GET", let token = request.parameters["token"] {
            guard keys.isLink(token) else { return .answer(exchange(token, request)) }
            // Announcing the next link may wait for its reader.
            return .read(limit: Self.entryLimit) { exchange(token, $0) }
        }
        let visitor = visitor(of: request)
        guard isExempt(request) || count(visitor, request) else {
            return .answer(tooMany("too many requests", request))
        }
        if let response = open(request) { return .answer(response) }
        if request.path == "/-/enter" {
            guard request.method == "POST" else { return .answer(WebResponse(to: "/")) }
            return .read(limit: Self.entryLimit) { enter($0) }
        }
        switch visitor {
        case .guess(let kind):
            guard isFree(kind, request) else { return .answer(tooMany("too many attempts", request)) }
            return .answer(stranger(request))
        case .stranger: return .answer(stranger(request))
        case .known(let right, let credential): return admit(request, right, credential)
        }
    }

    /// Whether the rate of requests does not matter, so that what restarts a host that is not healthy always learns whether it is.
    private func isExempt(_ request: ServerRequest) -> Bool { request.path == "/readyz" }

    /// Counts a request.
    ///
    /// - Returns: Whether it may be answered.
    private func count(_ visitor: Visitor, _ request: ServerRequest) -> Bool {
        guard case .known(_, let credential) = visitor else { return strangers.take(request.peer, at: clock.now()) }
        return requests.take(credential.name, at: clock.now())
    }

    /// Decides what becomes of a request by a client that has entered.
    private func admit(_ request: ServerRequest, _ right: Right, _ credential: Keys.Credential) -> Admission {
        guard isAPI(request.path) else {
            return .read(limit: Self.bodyLimit) { request in
                // The body may have come after they left.
                guard keys.isGood(credential) else { return stranger(request) }
                var response = await respond(request, right, credential)
                response.credential = credential
                return response
            }
        }
        guard let api else { return .answer(refusal(404, .missing, "there is no host", request)) }
        if let endpoint = api.endpoint(for: request), endpoint.right == .act,
            right != .act
        {
            return .answer(refusal(403, .denied, "this token may read, and not act", request))
        }
        return .read(limit: ControlAPI.bodyLimit) { request in
            guard keys.isGood(credential) else { return stranger(request) }
            var response = WebResponse(await api.respond(request))
            response.credential = credential
            return response
        }
    }
}
