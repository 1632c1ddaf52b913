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

    /// Sends a request, after the pause.
    ///
    /// - Throws: A ``PluginError`` for any response but the answer, with Kinto's own `message`; `rateLimited` at once if the pause
    ///   ends after the call's deadline.
    func send(_ request: HTTPRequest, for answer: VendorAnswer) async throws(PluginError)
        -> (body: JSONValue, headers: HTTPFields)
    {
        var response = try await exchange(request)
        for _ in 1...Self.repetitions where Self.isRolledBack(response) {
            // The answer's `Retry-After` is that of all errors; another moment is enough for this one.
            let wait = UInt64.random(in: 5_000_000...50_000_000)
            guard host.clock.monotonic &+ wait < Deadline.current else { break }
            try await host.clock.sleep(for: .nanoseconds(Int64(wait)))
            response = try await exchange(request)
        }
        let body = try answer.body(of: response) { refusal in
            let body = try? refusal.json()
            let words = body?["message"]?.string ?? body?["error"]?.string
            var failure = refusal.failure(vendor: "kinto", words: words, now: host.clock.now)
            if Self.isRolledBack(refusal) {
                (failure.status, failure.isRetryable) = (.unavailable, true)
            } else if refusal.status == 503, body?["errno"] == 201, Self.hasNUL(request.body) {
                failure.message += "; the record contains U+0000, which PostgreSQL cannot store"
                (failure.status, failure.isRetryable, failure.retryAfter) = (.invalid, false, nil)
            }
            return failure
        }
        return (body, response.headers)
    }

    /// Sends a request once, after the pause.
    private func exchange(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        let until = quietUntil.load(ordering: .relaxed)
        let now = host.clock.monotonic
        if until > now {
            let pause = Duration.nanoseconds(Int64(clamping: until - now))
            guard until < Deadline.current else {
                throw PluginError(
                    .rateLimited,
                    "the server requested a pause that ends after the call's deadline",
                    retryAfter: pause,
                    domain: "kinto"
                )
            }
            try await host.clock.sleep(for: pause)
        }
        let response = try await host.http.send(request)
        if let seconds = response.headers["Backoff"].flatMap({ UInt64($0) }), seconds > 0 {
            host.log.log(.notice, "the server requested a pause", ["seconds": .integer(Int64(clamping: seconds))])
            let wait = min(seconds, 3600) * 1_000_000_000
            quietUntil.store(host.clock.monotonic &+ wait, ordering: .relaxed)
        }
        return response
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
        try KintoRecord.read(await send(request, for: KintoAnswer.object).body["data"] ?? .null)
    }
}
