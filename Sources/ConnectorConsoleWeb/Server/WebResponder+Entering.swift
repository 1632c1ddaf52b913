// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Authentication, and protection against requests from other sites.
extension WebResponder {
    /// Whether a request may come from a page of another site, on whose behalf the browser would send the session's cookie.
    func isForeign(_ request: ServerRequest) -> Bool {
        let site = request.fields["Sec-Fetch-Site"]
        // A form on a page that sends no referrer has the origin "null"; only Sec-Fetch-Site then tells its site.
        let isUnnamed = request.fields["Origin"] == "null" && site == "same-origin"
        if let origin = request.fields["Origin"], !origins.isOwn(origin, host: request.fields["Host"]), !isUnnamed {
            return true
        }
        if request.method == "POST" {
            // Programs send neither field, and no cookie.
            let isOwn = site.map { $0 == "same-origin" } ?? (request.fields["Origin"] != nil)
            return !isOwn && (site != nil || request.fields["Cookie"] != nil)
        }
        guard let site, !["same-origin", "none"].contains(site) else { return false }
        // Another site may link to the console, but not embed any part of it.
        return request.fields["Sec-Fetch-Mode"] != "navigate" || request.fields["Sec-Fetch-Dest"] != "document"
    }

    /// The sender of a request.
    enum Client: Sendable {
        /// A client with a valid credential.
        case authenticated(Permission, Authenticator.Credential)
        /// A client with a wrong credential, and the kind of credential.
        case invalid(String)
        /// A client without a credential.
        case anonymous
    }

    /// The sender of a request, identified by a token or a cookie. One valid credential suffices, even beside a wrong one.
    func client(of request: ServerRequest) -> Client {
        if let (permission, credential) = request.bearer.flatMap({ authenticator.permission(ofBearer: $0) }) {
            return .authenticated(permission, credential)
        }
        let sessions = request.cookies(cookie).prefix(Self.cookieLimit)
        for session in sessions {
            if let permission = authenticator.permission(ofSession: session) {
                return .authenticated(permission, .session(session))
            }
        }
        if request.bearer != nil { return .invalid("bearer") }
        if request.fields["Authorization"] != nil { return .invalid("authorization") }
        return sessions.isEmpty ? .anonymous : .invalid("cookie")
    }

    /// Counts a wrong credential.
    ///
    /// - Parameter kind: The kind of credential; each kind is counted separately.
    /// - Returns: False if the client has sent too many.
    func admitsFailure(_ kind: String, _ request: ServerRequest) -> Bool {
        failures.take("\(kind) \(request.peer)", at: clock.now())
    }

    /// Logs in a browser that follows the link, and redirects it to the URL without the token.
    func exchange(_ token: String, _ request: ServerRequest) -> ServerResponse {
        // A prefetch must not consume the link.
        let isPrefetch = ["Purpose", "Sec-Purpose"].contains { request.fields[$0]?.contains("prefetch") ?? false }
        guard !isPrefetch else { return rejection(403, .denied, "the link cannot be prefetched", request) }
        let target = PageAddress(String(request.path))?.url ?? "/"
        if let session = authenticator.exchange(token) {
            renewLink()
            return loggedIn(session, target, request)
        }
        // A browser that is already logged in may follow the link again.
        if case .authenticated = client(of: request) { return ServerResponse(to: target) }
        guard admitsFailure("link", request) else { return tooMany("too many attempts", request) }
        return rejection(
            403,
            .unauthorized,
            "The link was already used, or is from an earlier run. The program has printed a new one.",
            request
        )
    }

    /// Logs in a browser with a typed token.
    func logIn(_ request: ServerRequest) -> ServerResponse {
        if let session = authenticator.logIn(request.form["token"] ?? "") { return loggedIn(session, "/", request) }
        guard admitsFailure("form", request) else { return tooMany("too many attempts", request) }
        return rejection(403, .unauthorized, "The token is wrong.", request)
    }

    private func loggedIn(_ session: String, _ target: String, _ request: ServerRequest) -> ServerResponse {
        // A redirect within a navigation that another site began still counts as cross-site, so browsers withhold the
        // SameSite=Strict cookie. A page of our own begins a new navigation instead.
        let isElsewhere = request.fields["Sec-Fetch-Site"] == "cross-site"
        var response = isElsewhere ? ServerResponse(view(.read).forwarding(to: target)) : ServerResponse(to: target)
        response.fields.append("Set-Cookie", setCookie(session))
        return response
    }

    /// The `Set-Cookie` field for a value. Over TLS the cookie's name begins with `__Host-`, so browsers accept it, even when it is
    /// removed, only with `Secure` (RFC 6265bis).
    private func setCookie(_ value: String) -> String {
        "\(cookie)=\(value); Path=/; HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
    }

    /// Ends a browser's session and removes its cookie.
    func logOut(_ session: String?) -> ServerResponse {
        if let session { authenticator.logOut(session) }
        var response = ServerResponse(to: "/")
        response.fields.append("Set-Cookie", "\(setCookie("")); Max-Age=0")
        return response
    }

    /// Refuses a request without a valid credential, and explains how to log in.
    func unauthorized(_ request: ServerRequest) -> ServerResponse {
        let sentence =
            authenticator.hasTokens
            ? "Log in with the token of the console." : "Follow the link that the program printed when it started."
        var response = rejection(401, .unauthorized, sentence, request)
        response.fields.append("WWW-Authenticate", "Bearer realm=\"connector-host\"")
        return response
    }
}
