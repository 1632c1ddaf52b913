// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Sends requests with the user's token, and converts refusals to errors.
final class EtcdConnection: Sendable {
    /// The most bytes to read of a refusal.
    private static let refusalLimit = 64 * 1024
    /// The most bytes to read of an answer with settings.
    static let answerLimit = 16 << 20
    /// The longest silence of the server while it sends settings.
    private static let readingSilence: Duration = .seconds(30)
    /// The longest silence of a watch; the server reports its progress every 10 minutes.
    private static let silence: Duration = .seconds(900)
    /// The server's words for a token from before a change of users or roles; the second text is from older servers.
    private static let oldTokens = ["revision of auth store is old", "revision in header is old"]
    /// Its words for a wrong user or password, and for a request without credentials.
    private static let wrongUsers = ["authentication failed, invalid user ID or password", "user name is empty"]
    /// Its words for a change of more settings than its limit, which is 128 by default.
    private static let tooManyOperations = "too many operations in txn request"
    /// Its words for a database at its limit, which stays full until somebody acts.
    private static let noSpace = "database space exceeded"
    /// Its words for a user where there are none.
    private static let noAuthentication = "authentication is not enabled"

    let requests: EtcdRequests
    private let host: Host
    private let token = Mutex<String?>(nil)

    init(_ requests: EtcdRequests, host: Host) {
        (self.requests, self.host) = (requests, host)
    }

    /// Reads every setting.
    func snapshot() async throws(PluginError) -> EtcdSnapshot { try await read(requests.all) }

    /// Reads one setting; nothing if it is not stored.
    func stored(_ name: String) async throws(PluginError) -> JSONObject { try await read(requests.one(name)).values }

    private func read(_ request: HTTPRequest) async throws(PluginError) -> EtcdSnapshot {
        let answer = try await authorized(request) { request throws(PluginError) in
            try EtcdAnswer.range.body(of: try await self.whole(request)) { self.failure($0) }
        }
        return try EtcdSnapshot(answer, requests)
    }

    /// Reads an answer with settings. If it is too long, other clients have stored too much: the host would blame the server.
    private func whole(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        let stream = try await host.http.stream(request, silence: Self.readingSilence)
        try stream.checkCoding(vendor: "etcd")
        var answer = HTTPResponse(status: stream.status, headers: stream.headers)
        var parts = stream.makeAsyncIterator()
        while let part = try await parts.next() {
            guard part.count <= Self.answerLimit - answer.body.count else {
                throw EtcdSnapshot.excess("has more than \(Self.answerLimit >> 20) MiB")
            }
            answer.body += part
        }
        return answer
    }

    /// Changes settings, all or none.
    func change(_ change: SettingsChange) async throws(PluginError) {
        guard !change.values.isEmpty else { return }
        _ = try await authorized(requests.change(change)) { request throws(PluginError) in
            try EtcdAnswer.change.body(of: try await self.host.http.send(request)) { self.failure($0) }
        }
    }

    /// Begins to follow the changes after a revision.
    func watch(after revision: Int64) async throws(PluginError) -> HTTPStream {
        try await authorized(requests.watch(after: revision)) { request throws(PluginError) in
            let stream = try await self.host.http.stream(request, silence: Self.silence)
            guard stream.status == 200 else {
                throw self.failure(try await stream.response(limit: Self.refusalLimit))
            }
            try stream.checkCoding(vendor: "etcd")
            return stream
        }
    }

    /// Sends a request with the token, and again with a new one if the server no longer accepts it.
    private func authorized<Answer>(
        _ request: HTTPRequest,
        _ send: (HTTPRequest) async throws(PluginError) -> Answer
    ) async throws(PluginError) -> Answer {
        let old = token.withLock { $0 }
        do throws(PluginError) {
            return try await send(request.with(old == nil ? try await newToken() : old))
        } catch {
            guard error.status == .unauthorized, old != nil else { throw error }
            return try await send(request.with(try await newToken()))
        }
    }

    /// Asks for a token, and keeps it; nil without a user.
    private func newToken() async throws(PluginError) -> String? {
        guard let request = requests.token else { return nil }
        let answer = try EtcdAnswer.token.body(of: try await host.http.send(request)) { self.failure($0) }
        let new = answer["token"]?.string
        token.withLock { $0 = new }
        return new
    }

    private func failure(_ refusal: HTTPResponse) -> PluginError {
        let body = try? refusal.json()
        let words = body?["message"]?.string ?? body?["error"]?.string
        var error = refusal.failure(vendor: "etcd", words: words, now: host.clock.now)
        // gRPC's codes, which the gateway translates to HTTP in its own way.
        switch body?["code"] {
        case .integer(7), .integer(9): error.status = .unauthorized
        case .integer(8): error.status = .rateLimited
        default: break
        }
        // These codes also mean other things: only the message says that the token is from before a change of users or roles, or that the
        // user or password is wrong.
        if (Self.oldTokens + Self.wrongUsers).contains(where: { words?.hasSuffix($0) == true }) {
            (error.status, error.isRetryable) = (.unauthorized, false)
        }
        if words?.hasSuffix(Self.tooManyOperations) == true {
            error.status = .tooLarge
            error.message += "; the server's --max-txn-ops is the limit of one change"
        }
        if words?.hasSuffix(Self.noSpace) == true {
            (error.status, error.isRetryable) = (.unavailable, false)
            error.message += "; compact and defragment it, or raise --quota-backend-bytes, and disarm the alarm"
        }
        if words?.hasSuffix(Self.noAuthentication) == true {
            (error.status, error.isRetryable) = (.invalid, false)
            error.message += "; enable authentication at the server, or remove username and password here"
        }
        return error
    }
}

extension HTTPRequest {
    fileprivate func with(_ token: String?) -> HTTPRequest {
        var request = self
        if let token { request.headers["Authorization"] = token }
        return request
    }
}
