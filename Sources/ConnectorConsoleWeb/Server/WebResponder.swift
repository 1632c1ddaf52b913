// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Answers the requests of browsers and programs. It knows no connections.
///
/// A request passes four gates, in this order: it names this server; it does not come from a page of another site; who sends it has
/// the right to; and it is not one too many. What does not pass costs neither a task nor the reading of a body.
struct WebResponder: Sendable {
    /// What this server is called.
    let origins: Origins
    /// Who may enter.
    let keys: Keys
    /// What is shown.
    let pages: LivePages
    /// Does what is asked for.
    let model: any ConsoleModel
    /// Answers below `/api`; nil without a host.
    let api: ControlAPI?
    /// What there is to be shown, and how it looks.
    let registry: ConsoleRegistry
    /// What is shown first.
    let start: Route
    /// What the console is called.
    let title: String
    /// The style sheet.
    let styles: [UInt8]
    /// The name of the cookie, which other servers on this machine also get: browsers do not tell ports apart.
    let cookie: String
    /// Whether the connections are encrypted.
    let isSecure: Bool
    /// Called with a new link after each use of one.
    let renewLink: @Sendable () -> Void
    /// How many requests of each session or token are answered.
    let requests = RateLimit(perSecond: 200, burst: 600)
    /// How many requests of each stranger's address are answered. A count of its own: strangers may be many.
    let strangers = RateLimit(perSecond: 200, burst: 600)
    /// How many wrong credentials of each kind and address are answered as such.
    let guesses = RateLimit(perSecond: 1, burst: 20)
    /// Measures the rates.
    let clock: any HostClock

    /// The most bytes of a form.
    static let bodyLimit = 64 << 10
    /// The most bytes of the form that a token is typed into, which strangers send.
    static let entryLimit = 4 << 10

    /// Answers a client that has entered.
    func respond(_ request: ServerRequest, _ right: Right, _ credential: Keys.Credential) async -> WebResponse {
        let path = request.path
        let session: String? = if case .session(let id) = credential { id } else { nil }
        if request.method == "POST" {
            if path == "/-/leave" { return leave(session) }
            guard [PostedForm.act, PostedForm.call].contains(String(path)) else {
                return refusal(405, .unsupported, "nothing is posted there", request)
            }
            guard right == .act else { return refusal(403, .denied, "this console is read only", request) }
            return await path == PostedForm.act ? act(request, session) : call(request, session)
        }
        switch path {
        case "/": return WebResponse(to: start.description)
        case "/-/live": return events(request, right)
        default: return await page(request, right, session)
        }
    }

    // MARK: Pages

    private func page(_ request: ServerRequest, _ right: Right, _ session: String?) async -> WebResponse {
        guard let address = PageAddress(request.target) else {
            return refusal(404, .missing, "there is nothing at \(request.path.prefix(200))", request)
        }
        let (content, version) = await pages.content(of: address)
        let message = session.flatMap { keys.takeMessage(of: $0) }
        let page = view(right).page(content, version: version, message: message)
        return WebResponse(page, status: content.isFound ? 200 : 404)
    }

    /// Draws pages for a client with a right.
    func view(_ right: Right) -> PageView {
        PageView(tabs: registry.scenes, title: title, canAct: right == .act)
    }

    private func events(_ request: ServerRequest, _ right: Right) -> WebResponse {
        let query = request.parameters
        guard let address = query["at"].flatMap(PageAddress.init) else {
            return refusal(400, .invalid, "at is not a route", request)
        }
        let version = request.fields["Last-Event-ID"] ?? query["version"] ?? ""
        return WebResponse(status: 200, .events(address, version: version, right))
    }

    /// What everybody may have: it says nothing of the host, except that it is there.
    func open(_ request: ServerRequest) -> WebResponse? {
        guard request.method != "POST" else { return nil }
        switch request.path {
        case "/-/console.css": return WebResponse(status: 200, .bytes(styles, type: "text/css; charset=utf-8"))
        case "/-/console.js":
            return WebResponse(
                status: 200,
                .bytes(PackageResources.console_js, type: "text/javascript; charset=utf-8")
            )
        case "/-/icon.svg":
            return WebResponse(status: 200, .bytes(PackageResources.icon_svg, type: "image/svg+xml"))
        default: return nil
        }
    }

    // MARK: Acting

    private func act(_ request: ServerRequest, _ session: String?) async -> WebResponse {
        let fields = request.form
        guard let form = PostedForm(String(request.path), fields), let key = fields["act"] else {
            return refusal(400, .invalid, "the form has no act, or no page to go back to", request)
        }
        guard let act = await pages.scene(at: form.address.route).act(key) else {
            return refusal(409, .conflict, "this cannot be done any more: look at the page again", request)
        }
        return await perform(act, form, request, session)
    }

    private func call(_ request: ServerRequest, _ session: String?) async -> WebResponse {
        let fields = request.form
        guard let form = PostedForm(String(request.path), fields) else {
            return refusal(400, .invalid, "the form names no page to go back to", request)
        }
        let scene = await pages.scene(at: form.address.route)
        guard let operation = scene.components.lazy.compactMap(\.form).first else {
            return refusal(409, .conflict, "there is nothing to call here: look at the page again", request)
        }
        let values = CallDraft.values(of: fields)
        do throws(FormFault) {
            return await perform(try operation.act(values), form, request, session)
        } catch {
            guard request.wantsPage else { return WebResponse(CallDraft.document(of: error), status: 422) }
            let (content, version) = await pages.content(of: form.address)
            let draft = CallDraft(values: values, faults: error.errors)
            return WebResponse(view(.act).page(content, version: version, draft: draft), status: 422)
        }
    }

    /// Does what a form asks for, after a question if something is lost.
    private func perform(
        _ act: ConsoleAct,
        _ form: PostedForm,
        _ request: ServerRequest,
        _ session: String?
    ) async -> WebResponse {
        if let question = act.question, !form.isSure {
            guard !request.wantsPage else { return WebResponse(view(.act).confirmation(of: act, form)) }
            // The script asks, and posts again.
            return WebResponse(ControlResponse(["version": 1, "question": .string(question)], status: 428))
        }
        let sentence = await model.perform(act)
        guard request.wantsPage, let session else { return WebResponse(text: sentence) }
        keys.keep(sentence, for: session)
        return WebResponse(to: form.address.url)
    }

    /// Whether the API answers.
    func isAPI(_ path: Substring) -> Bool {
        path.hasPrefix("/api/") || ["/api", "/readyz", "/metrics"].contains(path)
    }

    // MARK: Refusals

    /// Refuses a body that is not read to its end.
    func tooLarge(_ request: ServerRequest) -> WebResponse {
        rejection(413, .tooLarge, "the body is larger than it may be", request)
    }

    /// Refuses what comes too often.
    func tooMany(_ sentence: String, _ request: ServerRequest) -> WebResponse {
        var response = rejection(429, .rateLimited, sentence, request)
        response.fields.append(("Retry-After", "1"))
        return response
    }

    /// Refuses a request, and ends the connection: what follows on it is not worth reading.
    func rejection(
        _ status: Int,
        _ code: ConnectorError.Code,
        _ sentence: String,
        _ request: ServerRequest
    ) -> WebResponse {
        var response = refusal(status, code, sentence, request)
        response.isLast = true
        return response
    }

    /// Refuses a request: with a page for people, with the API's document for programs.
    func refusal(
        _ status: Int,
        _ code: ConnectorError.Code,
        _ sentence: String,
        _ request: ServerRequest
    ) -> WebResponse {
        guard request.wantsPage else {
            return WebResponse(ControlResponse(ConnectorError(code, sentence), status: status))
        }
        let asks = keys.hasTokens && (status == 401 || code == .unauthorized)
        return WebResponse(view(.read).notice(Self.title(of: status), sentence, asksForToken: asks), status: status)
    }

    private static func title(of status: Int) -> String {
        switch status {
        case 401: "Closed"
        case 403: "Refused"
        case 404: "Not found"
        case 409: "Too late"
        case 413: "Too large"
        case 429: "Too many requests"
        default: "Not possible"
        }
    }
}
