// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Who gets in, and how.
extension WebResponder {
    /// Whether a request may come from a page of another site, on whose behalf the browser sends our cookie.
    func isForeign(_ request: ServerRequest) -> Bool {
        let site = request.fields["Sec-Fetch-Site"]
        // A form of a page that sends no Referer has no Origin either: what the browser says of the site is then all there is.
        let isUnnamed = request.fields["Origin"] == "null" && site == "same-origin"
        if let origin = request.fields["Origin"], !origins.isOwn(origin), !isUnnamed { return true }
        if request.method == "POST" {
            // Programs have neither, and no cookie either.
            let isOwn = site.map { $0 == "same-origin" } ?? (request.fields["Origin"] != nil)
            return !isOwn && (site != nil || request.fields["Cookie"] != nil)
        }
        guard let site, !["same-origin", "none"].contains(site) else { return false }
        // A link elsewhere may lead here; but nothing of ours is to be part of another page.
        return request.fields["Sec-Fetch-Mode"] != "navigate" || request.fields["Sec-Fetch-Dest"] != "document"
    }

    /// Who sends a request.
    enum Visitor: Sendable {
        /// Somebody who has entered.
        case known(Right, Keys.Credential)
        /// Somebody whose credential is wrong, and of which kind it is.
        case guess(String)
        /// Somebody without a credential.
        case stranger
    }

    /// Who sends a request, by its token or its cookie. A right one counts, whatever else is wrong.
    func visitor(of request: ServerRequest) -> Visitor {
        if let (right, credential) = request.bearer.flatMap({ keys.right(ofBearer: $0) }) {
            return .known(right, credential)
        }
        let session = request.cookie(cookie)
        if let session, let right = keys.right(ofSession: session) { return .known(right, .session(session)) }
        if request.bearer != nil { return .guess("bearer") }
        if request.fields["Authorization"] != nil { return .guess("authorization") }
        return session == nil ? .stranger : .guess("cookie")
    }

    /// Counts a wrong credential.
    ///
    /// - Parameter kind: How it was given; each way has a count of its own.
    /// - Returns: Whether it is answered as such.
    func isFree(_ kind: String, _ request: ServerRequest) -> Bool {
        guesses.take("\(kind) \(request.peer)", at: clock.now())
    }

    /// Lets the browser in that follows the link, and takes the token out of the URL.
    func exchange(_ token: String, _ request: ServerRequest) -> WebResponse {
        // A browser that prefetches does not follow the link.
        let isAhead = ["Purpose", "Sec-Purpose"].contains { request.fields[$0]?.contains("prefetch") ?? false }
        guard !isAhead else { return rejection(403, .denied, "the link is not for looking ahead", request) }
        let target = PageAddress(String(request.path))?.url ?? "/"
        if let session = keys.exchange(token) {
            renewLink()
            return entered(session, target)
        }
        // Somebody who is in already follows the link again.
        if case .known = visitor(of: request) { return WebResponse(to: target) }
        guard isFree("link", request) else { return tooMany("too many attempts", request) }
        return rejection(
            403,
            .unauthorized,
            "The link was used already, or is of an earlier run. The program has printed another one.",
            request
        )
    }

    /// Lets a person in who typed a token.
    func enter(_ request: ServerRequest) -> WebResponse {
        if let session = keys.enter(request.form["token"] ?? "") { return entered(session, "/") }
        guard isFree("form", request) else { return tooMany("too many attempts", request) }
        return rejection(403, .unauthorized, "That is not the token.", request)
    }

    private func entered(_ session: String, _ target: String) -> WebResponse {
        var response = WebResponse(to: target)
        let secure = isSecure ? "; Secure" : ""
        response.fields.append(("Set-Cookie", "\(cookie)=\(session); Path=/; HttpOnly; SameSite=Strict\(secure)"))
        return response
    }

    /// Ends a browser's session.
    func leave(_ session: String?) -> WebResponse {
        if let session { keys.leave(session) }
        var response = WebResponse(to: "/")
        response.fields.append(("Set-Cookie", "\(cookie)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"))
        return response
    }

    /// Tells a stranger how to get in.
    func stranger(_ request: ServerRequest) -> WebResponse {
        let sentence =
            keys.hasTokens
            ? "Enter the console with its token." : "Follow the link that the program printed when it started."
        var response = rejection(401, .unauthorized, sentence, request)
        response.fields.append(("WWW-Authenticate", "Bearer realm=\"connector-host\""))
        return response
    }
}
