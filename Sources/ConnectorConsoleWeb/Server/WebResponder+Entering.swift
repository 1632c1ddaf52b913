// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorManifest
internal import ConnectorPlatform

/// Who gets in, and how.
extension WebResponder {
    /// Whether a request may come from a page of another site, on whose behalf the browser sends our cookie.
    func isForeign(_ request: WebRequest) -> Bool {
        let site = request.fields["sec-fetch-site"]
        // A form of a page that sends no Referer has no Origin either: what the browser says of the site is then all there is.
        let isUnnamed = request.fields["origin"] == "null" && site == "same-origin"
        if let origin = request.fields["origin"], !origins.isOwn(origin), !isUnnamed { return true }
        if request.method == "POST" {
            // Programs have neither, and no cookie either.
            let isOwn = site.map { $0 == "same-origin" } ?? (request.fields["origin"] != nil)
            return !isOwn && (site != nil || request.fields["cookie"] != nil)
        }
        guard let site, !["same-origin", "none"].contains(site) else { return false }
        // A link elsewhere may lead here; but nothing of ours is to be part of another page.
        return request.fields["sec-fetch-mode"] != "navigate" || request.fields["sec-fetch-dest"] != "document"
    }

    /// What somebody may do, by the token of the request or the cookie; nil for a stranger.
    func right(of request: WebRequest) -> (Right, session: String?)? {
        if let bearer = request.bearer {
            guard let right = keys.right(ofBearer: bearer) else { return nil }
            return (right, nil)
        }
        guard let id = request.cookie(cookie), let right = keys.right(ofSession: id) else { return nil }
        return (right, id)
    }

    /// Lets the browser in that follows the link, and takes the token out of the URL.
    func exchange(_ token: String, _ request: WebRequest) -> WebResponse {
        // A browser that looks ahead is not somebody who follows the link.
        let isAhead = ["purpose", "sec-purpose"].contains { request.fields[$0]?.contains("prefetch") ?? false }
        guard !isAhead else { return refusal(403, .denied, "the link is not for looking ahead", request) }
        let target = PageAddress(String(request.path))?.url ?? "/"
        if let session = keys.exchange(token) {
            renewLink()
            return entered(session, target)
        }
        // Somebody who is in already follows the link again.
        if right(of: request) != nil { return WebResponse(to: target) }
        guard attempts.take(at: clock.now()) else { return refusal(429, .rateLimited, "too many attempts", request) }
        return refusal(
            403,
            .unauthorized,
            "The link was used already, or is of an earlier run. The program has printed another one.",
            request
        )
    }

    /// Lets somebody in who typed a token.
    func enter(_ request: WebRequest) async -> WebResponse {
        guard request.method == "POST" else { return WebResponse(to: "/") }
        guard attempts.take(at: clock.now()) else { return refusal(429, .rateLimited, "too many attempts", request) }
        guard let fields = await form(request) else { return tooLarge(request) }
        guard let session = keys.enter(fields["token"] ?? "") else {
            return refusal(403, .unauthorized, "That is not the token.", request)
        }
        return entered(session, "/")
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
    func stranger(_ request: WebRequest) -> WebResponse {
        let sentence =
            keys.hasTokens
            ? "Enter the console with its token." : "Follow the link that the program printed when it started."
        var response = refusal(401, .unauthorized, sentence, request)
        response.fields.append(("WWW-Authenticate", "Bearer realm=\"connector-host\""))
        return response
    }
}
