// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Sends requests, honors the server's requests for a pause (`Backoff`), repeats what the server has rolled back, and converts
/// refusals to errors.
final class KintoConnection: Sendable {
    private let host: Host
    /// The end of the pause that the server requested, in nanoseconds of the monotonic clock; 0 for none.
    private let quietUntil = Atomic<UInt64>(0)

    /// How often to repeat a request that the server has rolled back.
    static let repetitions = 5

    init(host: Host) {
        self.host = host
    }

    /// What is left of the pause that the server requested; nil if there is none.
    var pause: Duration? {
        let (until, now) = (quietUntil.load(ordering: .relaxed), host.clock.monotonic)
        return until > now ? .nanoseconds(Int64(clamping: until - now)) : nil
    }

    /// Sends a request, after the pause, and reads the answer.
    ///
    /// - Throws: A ``PluginError`` for any response but the answer, with Kinto's own `message`; `rateLimited` at once if the pause
    ///   ends after the call's deadline.
    func send(_ request: HTTPRequest, for answer: VendorAnswer) async throws(PluginError) -> JSONValue {
        try body(of: await response(to: request), to: request, for: answer)
    }

    /// Sends a request at once, and reads the answer, which also says whether there is still a pause.
    func proof(_ request: HTTPRequest, for answer: VendorAnswer) async throws(PluginError) -> JSONValue {
        let response = try await host.http.send(request)
        quietUntil.store(0, ordering: .relaxed)
        notePause(in: response)
        return try body(of: response, to: request, for: answer)
    }

    /// Sends a request, after the pause.
    ///
    /// - Returns: The response, whatever its HTTP status.
    func response(to request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        var response = try await exchange(request)
        for _ in 1...Self.repetitions where Self.isRolledBack(response) {
            // The answer's `Retry-After` is that of all errors; another moment is enough for this one.
            let wait = UInt64.random(in: 5_000_000...50_000_000)
            guard host.clock.monotonic &+ wait < Deadline.current else { break }
            try await host.clock.sleep(for: .nanoseconds(Int64(wait)))
            response = try await exchange(request)
        }
        return response
    }

    /// Reads the answer to a request.
    func body(of response: HTTPResponse, to request: HTTPRequest, for answer: VendorAnswer) throws(PluginError)
        -> JSONValue
    {
        try answer.body(of: response) { refusal in
            let body = try? refusal.json()
            let words = body?["message"]?.string ?? body?["error"]?.string
            var failure = refusal.failure(vendor: "kinto", words: words, now: host.clock.now)
            if failure.isRetryable, failure.retryAfter == nil { failure.retryAfter = pause }
            if Self.isRolledBack(refusal) {
                (failure.status, failure.isRetryable) = (.unavailable, true)
            } else if refusal.status == 503, body?["errno"] == 201, Self.hasNUL(request.body) {
                failure.message += "; the record contains U+0000, which PostgreSQL cannot store"
                (failure.status, failure.isRetryable, failure.retryAfter) = (.invalid, false, nil)
            } else if failure.status == .notFound, KintoAnswer.missingResource(body) == nil {
                // The address or this version of the service is gone, which says nothing of a record.
                (failure.status, failure.isRetryable) = (.unavailable, true)
            }
            return failure
        }
    }

    /// Sends a request once, after the pause.
    private func exchange(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        if let pause {
            guard quietUntil.load(ordering: .relaxed) < Deadline.current else {
                throw PluginError(
                    .rateLimited,
                    "the server requested a pause that ends in \(pause.brief), after the call's deadline",
                    retryAfter: pause,
                    domain: "kinto"
                )
            }
            try await host.clock.sleep(for: pause)
        }
        let response = try await host.http.send(request)
        notePause(in: response)
        return response
    }

    /// Begins the pause that an answer requests, of an hour at most.
    private func notePause(in response: HTTPResponse) {
        guard let seconds = response.headers["Backoff"].flatMap({ UInt64($0) }), seconds > 0 else { return }
        host.log.log(.notice, "the server requested a pause", ["seconds": .integer(Int64(clamping: seconds))])
        let wait = min(seconds, 3600) * 1_000_000_000
        quietUntil.store(host.clock.monotonic &+ wait, ordering: .relaxed)
    }

    /// Whether the server has undone a write because another one reached its PostgreSQL with the same timestamp. This says nothing
    /// of the record, so any request may be repeated; that a record has changed, or exists already, is a 412.
    private static func isRolledBack(_ response: HTTPResponse) -> Bool {
        response.status == 409 && (try? response.json())?["errno"] == 122
    }

    /// Whether a text in JSON has U+0000, which JSON has only as an escape.
    private static func hasNUL(_ json: [UInt8]) -> Bool {
        var rest = json[...]
        while let escape = rest.firstIndex(of: UInt8(ascii: "\\")) {
            rest = rest[escape...]
            if rest.starts(with: #"\u0000"#.utf8) { return true }
            rest = rest.dropFirst(2)
        }
        return false
    }

    /// Sends a request whose answer is a record.
    func record(_ request: HTTPRequest) async throws(PluginError) -> DatabaseRecord {
        try record(of: await response(to: request), to: request)
    }

    /// Reads the record that answers a request.
    func record(of response: HTTPResponse, to request: HTTPRequest) throws(PluginError) -> DatabaseRecord {
        try KintoRecord.read(body(of: response, to: request, for: KintoAnswer.object)["data"] ?? .null)
    }
}
