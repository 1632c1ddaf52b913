// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Responds to the requests of browsers and programs, independently of their connections.
///
/// A request must pass four checks, in this order: it names this server; it does not come from a page of another site; it is
/// within the rate limit; and its client has the required permission. A request that fails one of them starts no task, and its body is
/// not read; only the permission to act on a page is checked after the body was read.
struct WebResponder: Sendable {
    /// The host names of this server.
    let origins: Origins
    /// Authenticates clients.
    let authenticator: Authenticator
    /// The pages.
    let pages: LivePages
    /// Performs the acts that pages send.
    let acts: PageActs
    /// Serves the API; nil without a host.
    let api: ControlAPI?
    /// The route of `/`.
    let start: Route
    /// The title of the console in its pages.
    let title: String
    /// The style sheet, in CSS.
    let styles: [UInt8]
    /// The name of the cookie. It contains the port, because browsers send cookies to every port of a host.
    let cookie: String
    /// Whether the connections are encrypted.
    let isSecure: Bool
    /// Called with a new link after each use of one.
    let renewLink: @Sendable () -> Void
    /// The rate limit of each session or token.
    let requests = RateLimit(perSecond: 200, burst: 600)
    /// The rate limit of each address without a valid credential; separate, so that such clients cannot crowd out sessions.
    let anonymousRequests = RateLimit(perSecond: 200, burst: 600)
    /// The rate limit of wrong credentials, for each kind and address.
    let failures = RateLimit(perSecond: 1, burst: 20)
    /// The clock for rate limits.
    let clock: any HostClock

    /// The header fields of every response: no foreign scripts, no framing, no caching, no referrer.
    static let commonFields: HTTPFields = [
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    ]
    /// The maximum size of a form, in bytes.
    static let bodyLimit = 64 << 10
    /// The maximum size of the login form, in bytes; unauthenticated clients may send it.
    static let entryLimit = 4 << 10
    /// The maximum number of cookies with one name that are looked up.
    static let cookieLimit = 16

    /// Responds to an authenticated client.
    func respond(_ request: ServerRequest, _ permission: Permission, _ credential: Authenticator.Credential) async
        -> ServerResponse
    {
        let path = request.path
        let session: String? = if case .session(let id) = credential { id } else { nil }
        if request.method == "POST" {
            if path == "/-/leave" { return logOut(session) }
            guard [PostedForm.act, PostedForm.call].contains(String(path)) else {
                return refusal(405, .unsupported, "this path does not accept POST", request)
            }
            guard permission == .act else { return refusal(403, .denied, "this console is read-only", request) }
            return await path == PostedForm.act ? act(request, session) : call(request, session)
        }
        switch path {
        case "/": return ServerResponse(to: start.description)
        case "/-/live": return await events(request, permission)
        default: return await page(request, permission, session)
        }
    }

    // MARK: Pages

    private func page(_ request: ServerRequest, _ permission: Permission, _ session: String?) async -> ServerResponse {
        guard let address = PageAddress(request.target) else {
            return refusal(404, .missing, "there is nothing at \(request.path.prefix(200))", request)
        }
        let (content, version) = await pages.content(of: address, for: permission)
        let message = session.flatMap { authenticator.takeMessage(of: $0) }
        let page = view(permission).page(content, version: version, message: message)
        return ServerResponse(page, status: content.isFound ? 200 : 404)
    }

    /// The view of a client with a permission.
    func view(_ permission: Permission) -> PageView {
        PageView(title: title, canAct: permission == .act, hasAPI: api != nil)
    }

    /// An asset, which needs no authentication because it reveals nothing about the host; nil for any other path.
    func publicAsset(_ request: ServerRequest) -> ServerResponse? {
        guard request.method != "POST" else { return nil }
        switch request.path {
        case "/-/console.css": return ServerResponse(styles, contentType: "text/css; charset=utf-8")
        case "/-/console.js":
            return ServerResponse(PackageResources.console_js, contentType: "text/javascript; charset=utf-8")
        case "/-/icon.svg": return ServerResponse(PackageResources.icon_svg, contentType: "image/svg+xml")
        default: return nil
        }
    }

    // MARK: Acting

    private func act(_ request: ServerRequest, _ session: String?) async -> ServerResponse {
        let fields = request.form
        guard let form = PostedForm(String(request.path), fields), let key = fields["act"] else {
            return refusal(400, .invalid, "the form names no act, or no page to return to", request)
        }
        guard let act = await pages.scene(at: form.address).act(key) else {
            return refusal(409, .conflict, "this action is no longer available: reload the page", request)
        }
        return await perform(act, form, request, session)
    }

    private func call(_ request: ServerRequest, _ session: String?) async -> ServerResponse {
        let fields = request.form
        guard let form = PostedForm(String(request.path), fields) else {
            return refusal(400, .invalid, "the form names no page to return to", request)
        }
        let scene = await pages.scene(at: form.address)
        // A program that posts without naming a form means the first one.
        let named = fields[PostedForm.form].map { name in scene.component(name) }
        guard let component = named ?? scene.components.first(where: { $0.form != nil }), let found = component.form
        else {
            return refusal(409, .conflict, "this form is no longer available: reload the page", request)
        }
        var draft = CallDraft(component: component.id, values: CallDraft.values(of: fields))
        // The form may have changed since its page was made. What was entered into a field that is gone must not get lost unseen.
        let known = Set(found.fields.map(\.name))
        if let gone = draft.values.filter({ !$0.value.isEmpty && !known.contains($0.key) }).keys.min() {
            let sentence = "this form no longer has the field \(gone.prefix(200)): reload the page"
            return refusal(409, .conflict, sentence, request)
        }
        do throws(FormFault) {
            return await perform(try found.act(draft.values), form, request, session, draft)
        } catch {
            draft.faults = error.errors
            return await rejected(draft, error, form, request)
        }
    }

    /// Shows a form again, with the errors at its fields.
    private func rejected(
        _ draft: CallDraft,
        _ fault: FormFault,
        _ form: PostedForm,
        _ request: ServerRequest
    ) async -> ServerResponse {
        guard request.wantsPage else { return ServerResponse(CallDraft.document(of: fault), status: 422) }
        let (content, version) = await pages.content(of: form.address, for: .act)
        return ServerResponse(view(.act).page(content, version: version, draft: draft), status: 422)
    }

    /// Performs the act of a form; one that loses data must be confirmed first.
    private func perform(
        _ act: ConsoleAct,
        _ form: PostedForm,
        _ request: ServerRequest,
        _ session: String?,
        _ draft: CallDraft? = nil
    ) async -> ServerResponse {
        if let question = act.question, !form.isConfirmed {
            guard !request.wantsPage else { return ServerResponse(view(.act).confirmation(of: act, form)) }
            // The page's script asks the question and posts again.
            return ServerResponse(["version": 1, "question": .string(question)], status: 428)
        }
        let outcome = await acts.perform(act)
        // The page was left before the act ended, so the next one says how it did.
        if Task.isCancelled, let session { authenticator.setMessage(outcome.sentence, for: session) }
        if var draft, !outcome.fieldErrors.isEmpty {
            draft.faults = outcome.fieldErrors
            return await rejected(draft, FormFault(outcome.fieldErrors), form, request)
        }
        let next = outcome.isFailure ? nil : outcome.route?.description
        guard request.wantsPage, let session else {
            let status = outcome.isFailure ? (outcome.code ?? .failed).status : 200
            var response = ServerResponse(text: outcome.sentence.displayed(isUnicode: true), status: status)
            // The page's script opens it.
            if let next { response.fields.append("Content-Location", next) }
            return response
        }
        authenticator.setMessage(outcome.sentence, for: session)
        return ServerResponse(to: next ?? form.address.url)
    }

    /// Whether a path belongs to the API.
    func isAPI(_ path: Substring) -> Bool {
        path.starts(ascii: "/api/") || ["/api", "/readyz", "/metrics"].contains(path)
    }

    /// Whether a path may belong to a page.
    func isPage(_ path: Substring) -> Bool { !isAPI(path) && !path.starts(ascii: PageView.prefix) }

    // MARK: Refusals

    /// Refuses a body that exceeds its limit in bytes; the rest of it is not read.
    func tooLarge(_ request: ServerRequest, limit: Int) -> ServerResponse {
        guard isAPI(request.path), !request.wantsPage else {
            let other = request.path == PostedForm.call ? "; the API takes \(ControlAPI.bodyLimit >> 10) KiB" : ""
            return rejection(413, .tooLarge, "the body is larger than \(limit >> 10) KiB\(other)", request)
        }
        var response = ServerResponse(ControlAPI.bodyTooLarge, status: 413)
        response.isLast = true
        return response
    }

    /// Refuses a request that exceeds a rate limit.
    func tooMany(_ sentence: String, _ request: ServerRequest) -> ServerResponse {
        var response = rejection(429, .rateLimited, sentence, request)
        response.fields.append("Retry-After", "1")
        return response
    }

    /// Refuses a request and closes the connection without reading further requests.
    func rejection(
        _ status: Int,
        _ code: ConnectorError.Code,
        _ sentence: String,
        _ request: ServerRequest
    ) -> ServerResponse {
        var response = refusal(status, code, sentence, request)
        response.isLast = true
        return response
    }

    /// Refuses a request, with a page for browsers and with the API's error document for programs.
    func refusal(
        _ status: Int,
        _ code: ConnectorError.Code,
        _ sentence: String,
        _ request: ServerRequest
    ) -> ServerResponse {
        guard request.wantsPage else {
            return ServerResponse(ConnectorError(code, sentence), status: status)
        }
        let asks = authenticator.hasTokens && (status == 401 || code == .unauthorized)
        return ServerResponse(view(.read).notice(Self.title(of: status), sentence, asksForToken: asks), status: status)
    }

    private static func title(of status: Int) -> String {
        switch status {
        case 401: "Log in"
        case 403: "Refused"
        case 404: "Not found"
        case 409: "Conflict"
        case 413: "Too large"
        case 429: "Too many requests"
        default: "Not possible"
        }
    }
}
