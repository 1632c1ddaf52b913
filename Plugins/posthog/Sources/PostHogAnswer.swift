// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// PostHog's answers.
enum PostHogAnswer {
    /// The answer to a batch: `{"status":1}` from older servers, `{"status":"Ok"}` from newer ones. Only 200 is
    /// success.
    ///
    /// Even then, PostHog drops the events if `quota_limited` names them.
    static let accepted = VendorAnswer(
        "posthog",
        [
            .object(#"with "status": 1 or "Ok""#) { body in
                body["status"] == 1 || body["status"]?.string?.lowercased() == "ok"
            }
        ],
        isRefusal: { response in
            if let body = try? response.json() {
                return ["type", "code", "detail"].allSatisfy { body[$0]?.string != nil }
            }
            return PostHogAnswer.refusals.contains { response.excerpt.hasPrefix($0) }
        }
    )

    /// How the texts begin with which newer servers refuse what was sent (PostHog's `rust/capture`).
    private static let refusals = [
        "request holds no event", "request missing", "event submitted", "replay event", "invalid event",
        "failed to decode request", "failed to parse request", "failed to hydrate", "payload empty after filtering",
        oversize,
    ]

    /// How the text begins with which PostHog refuses an event that is too large for its queue, where an event is JSON in JSON; newer
    /// servers do so with status 413.
    private static let oversize = "maximum event size exceeded"

    /// The error for a refusal, with PostHog's own `detail`.
    static func failure(_ response: HTTPResponse, now: Timestamp) -> PluginError {
        let words = (try? response.json())?["detail"]?.string
        var failure = response.failure(vendor: "posthog", words: words, now: now)
        if failure.status == .invalid, response.excerpt.hasPrefix(oversize) { failure.status = .tooLarge }
        return failure
    }

    /// The answer to a request for feature flags: `flags` in version 2, `featureFlags` before.
    static let flags = VendorAnswer(
        "posthog",
        [
            .object(#"with "flags""#) { body in
                body["flags"]?.object != nil || body["featureFlags"] != nil
                    || body["errorsWhileComputingFlags"]?.bool != nil
            }
        ]
    )
}
