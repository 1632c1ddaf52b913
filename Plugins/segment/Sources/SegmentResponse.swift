// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Segment's answers.
struct SegmentResponse {
    /// Segment sends `{"success":true}`; some compatible servers send `ok`, in JSON or as plain text.
    static let accepted = VendorAnswer(
        "segment",
        statuses: 200...299,
        [
            .object(#"with "success": true"#) { body in
                body["success"] == true || body["ok"] == true || body["status"]?.string?.lowercased() == "ok"
            },
            .text("OK"),
        ],
        isRefusal: { response in
            let body = try? response.json()
            if body?["code"]?.string != nil || body?["success"] == false { return true }
            let words = (body?["msg"]?.string ?? response.excerpt).lowercased()
            return SegmentResponse.refusals.contains { words.hasPrefix($0) }
        }
    )

    /// How RudderStack's words begin with which it refuses what was sent (its `gateway/response`).
    private static let refusals = [
        "empty batch payload", "error during parsing", "error while marshalling", "event is not a valid rudder event",
        "invalid json", "request body is nil", "request neither has", "request size exceeds",
    ]

    let response: HTTPResponse

    init(_ response: HTTPResponse) {
        self.response = response
    }

    /// Whether these are the settings of a source.
    var isSettings: Bool {
        response.isSuccess && (try? response.json())?["integrations"]?.object != nil
    }

    /// The error, with Segment's own `message` and its rules for retries: 408, 410, 429, 460, and 5xx except 501 and
    /// 505.
    func failure(now: Timestamp) -> PluginError {
        let body = try? response.json()
        var failure = response.failure(vendor: "segment", words: body?["message"]?.string, now: now)
        if response.status == 410 || response.status == 460 {
            failure.status = .unavailable
            failure.isRetryable = true
        }
        if response.status == 429, failure.retryAfter == nil { failure.retryAfter = reset(now: now) }
        return failure
    }

    /// The wait until `X-RateLimit-Reset`, at most a day; nil if absent or unreadable. Gateways send it with every answer, so it is a wait
    /// only beside a 429. Segment states seconds, some gateways a time.
    private func reset(now: Timestamp) -> Duration? {
        guard let reset = response.headers["X-RateLimit-Reset"].flatMap({ Int64($0) }) else { return nil }
        let isTime = reset > 1_000_000_000
        let seconds = isTime ? reset - Int64(clamping: now.nanoseconds / 1_000_000_000) : reset
        return .seconds(min(max(0, seconds), 86_400))
    }
}
