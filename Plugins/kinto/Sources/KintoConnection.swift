// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Sends requests, honours the server's requests for a pause (`Backoff`), and converts refusals to errors.
final class KintoConnection: Sendable {
    private let host: Host
    /// The end of the pause that the server requested, in nanoseconds of the monotonic clock; 0 for none.
    private let quietUntil = Atomic<UInt64>(0)

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
        let body = try answer.body(of: response) { refusal in
            let body = try? refusal.json()
            let words = body?["message"]?.string ?? body?["error"]?.string
            return refusal.failure(vendor: "kinto", words: words, now: host.clock.now)
        }
        return (body, response.headers)
    }

    /// Sends a request whose answer is a record.
    func record(_ request: HTTPRequest) async throws(PluginError) -> DatabaseRecord {
        try KintoRecord.read(await send(request, for: KintoAnswer.object).body["data"] ?? .null)
    }
}
