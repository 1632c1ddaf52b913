// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Sends requests, reads what a server says about files, and converts refusals to errors.
struct WebDAVConnection: Sendable {
    private let host: Host
    private let requests: WebDAVRequests

    /// How long the server may be silent while it lists a collection.
    private static let silence = Duration.seconds(30)

    init(host: Host, requests: WebDAVRequests) {
        (self.host, self.requests) = (host, requests)
    }

    /// Sends a request.
    ///
    /// - Throws: The error for any status that is not accepted.
    @discardableResult
    func send(
        _ request: HTTPRequest,
        accepting statuses: some Collection<Int>
    ) async throws(PluginError) -> HTTPResponse {
        let response = try await host.http.send(request)
        guard statuses.contains(response.status) else { throw failure(response, to: request) }
        return response
    }

    /// Checks that the collection of the endpoint is still there. Ask for it only once something else is missing.
    func checkEndpoint() async throws(PluginError) {
        if try await find("") == nil { throw endpointMissing }
    }

    /// The error if the collection of the endpoint is gone, such as that of a share that is not mounted.
    private var endpointMissing: PluginError {
        PluginError(
            .unavailable,
            "the collection \(requests.endpoint) is gone; restore it, or correct endpoint",
            domain: "webdav"
        )
    }

    /// Sends a request with a body that comes in parts, and returns the response, whatever its status.
    func stream(_ request: HTTPRequest, _ body: HTTPUpload) async throws(PluginError) -> HTTPResponse {
        try await host.http.stream(request, body: body, silence: nil).response(limit: 1 << 20)
    }

    /// Sends a request that makes a file. If collections above it may be missing, creates them and sends the request once
    /// more.
    ///
    /// - Throws: `conflict` if there is a file where a collection must be.
    @discardableResult
    func sendMakingParents(
        _ request: HTTPRequest,
        of path: String,
        accepting statuses: [Int]
    ) async throws(PluginError) -> HTTPResponse {
        var response = try await host.http.send(request)
        let parents = WebDAVRequests.segments(of: path).dropLast()
        // RFC 4918 requires 409. Other servers answer 404; to a move, those in Go answer 403, nginx and Apache 500.
        if [403, 404, 409, 500].contains(response.status), !parents.isEmpty {
            var parent = ""
            for name in parents {
                parent += parent.isEmpty ? name : "/\(name)"
                try await makeCollection(parent)
            }
            response = try await host.http.send(request)
        }
        if statuses.contains(response.status) { return response }
        throw try await refusal(response, to: request, at: path)
    }

    /// The error for a request that could make nothing at a path: `conflict` if there is a file where a collection must be,
    /// `unavailable` if the collection of the endpoint is gone, `failed` if the server calls something missing that is there.
    func refusal(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        at path: String
    ) async throws(PluginError) -> PluginError {
        // SabreDAV answers 415.
        if [400, 403, 409, 415].contains(response.status), try await isBelowFile(path) {
            return PluginError(
                .conflict,
                "there is a file where \"\(path)\" needs a collection",
                domain: "webdav",
                detail: Int32(clamping: response.status)
            )
        }
        if [404, 409, 410].contains(response.status) { try await checkEndpoint() }
        var failure = failure(response, to: request)
        // Nothing that the request needs is missing. As `notFound`, the error would say so of the upload, which would begin again.
        if failure.status == .notFound, [.put, .mkcol].contains(request.method) {
            failure.status = .failed
            failure.message += "; the collection \(requests.endpoint) is there, but the server makes nothing in it"
        }
        return failure
    }

    /// Creates a collection, unless there is something at its path.
    func makeCollection(_ path: String) async throws(PluginError) {
        let request = requests.makeCollection(path)
        let response = try await host.http.send(request)
        // RFC 4918 requires 405 if something is there. Not every server answers so, and some refuse to create what exists.
        guard response.status != 201, response.status != 405, (try? await find(path)) == nil else { return }
        throw try await refusal(response, to: request, at: path)
    }

    /// The resource at a path; nil if there is none.
    func find(_ path: String) async throws(PluginError) -> WebDAVResource? {
        let request = requests.find(path, depth: 0)
        let response = try await host.http.send(request)
        switch response.status {
        case 207: return try resource(path, in: response, to: request)
        case 404, 410: return nil
        default: break
        }
        // Some servers answer a request for a collection without the slash at its end as they answer a GET: with a page or
        // a refusal. So ask again with the slash; unless that finds a collection, the first answer counts.
        if (200..<400).contains(response.status) || response.status == 403 || response.status == 405,
            !path.isEmpty,
            let again = try? await host.http.send(requests.find(path, depth: 0, isCollection: true)),
            again.status == 207,
            let found = try? resource(path, in: again, to: request),
            found.isCollection
        {
            return found
        }
        if [400, 403].contains(response.status), (try? await isBelowFile(path)) == true { return nil }
        throw failure(response, to: request)
    }

    /// Whether there is a file where a path needs a collection. To every request about such a path but a GET, Apache answers 400, and
    /// lighttpd 403.
    private func isBelowFile(_ path: String) async throws(PluginError) -> Bool {
        let names = WebDAVRequests.segments(of: path)
        for count in 1..<max(1, names.count) {
            guard let found = try await find(names.prefix(count).joined(separator: "/")) else { return false }
            if !found.isCollection { return true }
        }
        return false
    }

    /// What a `multistatus` says about a path; nil if it says that there is nothing.
    private func resource(
        _ path: String,
        in response: HTTPResponse,
        to request: HTTPRequest
    ) throws(PluginError) -> WebDAVResource? {
        let (names, base) = (WebDAVRequests.segments(of: path), requests.path)
        let all = try responses(in: response)
        let found = all.lazy.compactMap { WebDAVResource($0, below: base) }.first { Self.isSame($0.path, names) }
        if let found { return found }
        guard let status = refusal(of: path, in: all) else {
            let words = all.first?["href"].map { ", but of \($0.text.prefix(80))" } ?? ""
            throw violation(
                "the answer says nothing of \(base)/\(path)\(words); if the server redirects, set endpoint to where that leads",
                response
            )
        }
        guard status == 404 || status == 410 else {
            throw failure(HTTPResponse(status: status, headers: response.headers), to: request)
        }
        return nil
    }

    /// The status with which elements of a `multistatus` refuse a path; nil if they show it, or say nothing of it.
    private func refusal(of path: String, in elements: [XMLElement]) -> Int? {
        let (names, base) = (WebDAVRequests.segments(of: path), requests.path)
        for element in elements where element.name == "response" {
            guard let refusal = WebDAVResource.refusal(element, below: base), Self.isSame(refusal.path, names) else {
                continue
            }
            return WebDAVResource(element, below: base) == nil ? refusal.status : nil
        }
        return nil
    }

    /// Reads the members of a collection, in no particular order; none if there is no collection below the endpoint.
    ///
    /// The server's list is read as it comes, because it has no limit.
    ///
    /// - Throws: `unavailable` if the collection is that of the endpoint, and gone, which says nothing of its files.
    func readMembers(of path: String, _ read: (WebDAVResource) -> Void) async throws(PluginError) {
        let request = requests.find(path, depth: 1)
        let list = try await host.http.stream(request, silence: Self.silence)
        let head = HTTPResponse(status: list.status, headers: list.headers)
        guard list.status == 207 else {
            let refusal = try await list.response(limit: 1 << 20)
            return try checkCollection(path, refusal, to: request)
        }
        try list.checkCoding(vendor: "webdav")
        var document = XMLStream()
        var parts = list.makeAsyncIterator()
        while let part = try await parts.next() {
            let elements = try parsed(head) { () throws(ConnectorError) in try document.add(part) }
            if let root = document.root { try check(root, head) }
            if let status = refusal(of: path, in: elements) {
                return try checkCollection(path, HTTPResponse(status: status, headers: head.headers), to: request)
            }
            for member in members(of: path, in: elements) { read(member) }
        }
        try parsed(head) { () throws(ConnectorError) in try document.end() }
    }

    /// Checks why a collection is not listed: one below the endpoint may be missing.
    private func checkCollection(_ path: String, _ refusal: HTTPResponse, to request: HTTPRequest) throws(PluginError) {
        if refusal.status == 404 || refusal.status == 410 {
            guard path.isEmpty else { return }
            throw endpointMissing
        }
        var failure = failure(refusal, to: request)
        if !path.isEmpty { failure.message += "; the collection is \"\(path)\"" }
        throw failure
    }

    /// The files of a collection that have not changed for some time, in nanoseconds, by the server's clock; none if it does not answer
    /// soon, or does not say what time it is.
    func files(in collection: String, unchangedFor age: UInt64) async -> [String] {
        guard let response = await host.http.sendForEvidence(requests.find(collection, depth: 1)),
            response.status == 207,
            let now = response.headers["Date"].flatMap({ Timestamp(httpDate: $0) }),
            let elements = try? responses(in: response)
        else { return [] }
        return members(of: collection, in: elements).compactMap { member in
            guard !member.isCollection, let modified = member.modified, modified.nanoseconds < now.nanoseconds,
                now.nanoseconds - modified.nanoseconds >= age
            else { return nil }
            return member.path
        }
    }

    private func members(of path: String, in elements: [XMLElement]) -> [WebDAVResource] {
        let (names, base) = (WebDAVRequests.segments(of: path), requests.path)
        return elements.filter { $0.name == "response" }.compactMap { WebDAVResource($0, below: base) }.filter {
            resource in
            let segments = WebDAVRequests.segments(of: resource.path)
            return segments.count == names.count + 1 && Self.isSame(path, segments.dropLast())
        }
    }

    /// Stores a stamp. A server that keeps no foreign properties refuses it, and the digest stays unknown.
    func set(_ stamp: WebDAVStamp, of path: String) async throws(PluginError) {
        let refusals = [403, 404, 405, 409, 415, 422, 424, 501, 507]
        let response = try await send(requests.setStamp(stamp, of: path), accepting: [200, 204, 207] + refusals)
        // lighttpd answers 200 or 204, and nothing else, once it has stored everything.
        let isDone = [200, 204].contains(response.status) && response.body.isEmpty
        if response.status < 300, !isDone { _ = try resources(in: response) }
    }

    private static func isSame(_ path: String, _ names: some Collection<String>) -> Bool {
        path.utf8.elementsEqual(names.joined(separator: "/").utf8)
    }

    private func resources(in response: HTTPResponse) throws(PluginError) -> [WebDAVResource] {
        let path = requests.path
        return try responses(in: response).compactMap { WebDAVResource($0, below: path) }
    }

    /// The elements `response` of a `multistatus`.
    private func responses(in response: HTTPResponse) throws(PluginError) -> [XMLElement] {
        let document = try parsed(response) { () throws(ConnectorError) in try XMLElement(parsing: response.body) }
        try check(document, response)
        return document.all("response")
    }

    /// Parses a part of an answer.
    private func parsed<Value>(
        _ response: HTTPResponse,
        _ parse: () throws(ConnectorError) -> Value
    ) throws(PluginError) -> Value {
        do throws(ConnectorError) {
            return try parse()
        } catch {
            let position = error.position.map { " at \($0)" } ?? ""
            throw violation("the answer is not XML\(position): \(error.message)", response)
        }
    }

    private func check(_ root: XMLElement, _ response: HTTPResponse) throws(PluginError) {
        guard root.namespace == "DAV:", root.name == "multistatus" else {
            throw violation("the answer is <\(root.name.prefix(40))>, and no multistatus", response)
        }
    }

    // MARK: Errors

    /// The error for an answer that breaks the protocol.
    func violation(_ message: String, _ response: HTTPResponse) -> PluginError {
        PluginError(.protocolViolation, message, domain: "webdav", detail: Int32(clamping: response.status))
    }

    /// The error for the status of an answer to a request.
    func failure(_ response: HTTPResponse, to request: HTTPRequest) -> PluginError {
        if response.tlsRefusal != nil { return response.failure(vendor: "webdav", now: host.clock.now) }
        guard response.status >= 400 else {
            guard !response.isPage, response.status < 300 else {
                return response.failure(vendor: "webdav", now: host.clock.now)
            }
            let path = request.url.description.dropFirst(request.url.origin.count)
            let words = response.body.isEmpty ? "" : ": \(response.excerpt)"
            return violation(
                "WebDAV does not answer \(request.method.rawValue) \(path) with HTTP \(response.status)\(words)",
                response
            )
        }
        // Servers explain refusals in XML, as text, or with a page, which here is the server's own and not a proxy's.
        let message = (try? XMLElement(parsing: response.body))?["message"]?.text
        let words = response.isPage ? message ?? response.title : response.excerpt
        let bare = HTTPResponse(status: response.status, headers: response.headers.withoutContentType)
        var failure = bare.failure(vendor: "webdav", words: words, now: host.clock.now)
        switch response.status {
        case 401 where !response.headers.offerBasic:
            failure.status = .unsupported
            failure.message += "; it offers no Basic authentication, the only one that this adapter speaks"
        case 403: failure.status = .denied
        case 409: failure.message += "; a file may be in the way where a collection must be"
        case 423:
            (failure.status, failure.isRetryable) = (.conflict, true)
            let url = request.headers["Destination"] ?? request.url.description
            let path = url.dropFirst(request.url.origin.count)
            failure.message += "; \(path) or a collection above it is locked by another program"
        case 507: (failure.message, failure.isRetryable) = (failure.message + "; the server has no space left", false)
        default: break
        }
        return failure
    }
}

extension HTTPFields {
    /// Whether the challenges of a 401 include Basic, or there are none (RFC 9110, section 11.6.1).
    fileprivate var offerBasic: Bool {
        let challenges = filter { $0.isNamed("WWW-Authenticate") }.flatMap { $0.value.split(separator: ",") }
        return challenges.isEmpty
            || challenges.contains { challenge in
                challenge.split(separator: " ").first.map { $0.lowercased() == "basic" } ?? false
            }
    }

    fileprivate var withoutContentType: HTTPFields {
        var fields = self
        fields.remove("Content-Type")
        return fields
    }
}
