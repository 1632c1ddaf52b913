// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// How long Sentry accepts no events (develop.sentry.dev/sdk/expected-features/rate-limiting).
///
/// The adapter remembers no limit beyond one delivery: the host keeps the wait, and whoever tries again before its end may do so.
enum SentryRateLimits {
    /// The wait that an answer of any status asks for, at most a year; nil if Sentry accepts events.
    static func wait(of response: HTTPResponse, now: Timestamp) -> Duration? {
        guard let seconds = seconds(of: response, now: now), seconds > 0 else { return nil }
        return .seconds(Int64(min(seconds, 31_536_000)))
    }

    /// Throws during a limit.
    static func check(_ wait: Duration?) throws(PluginError) {
        guard let wait else { return }
        throw PluginError(
            .rateLimited,
            "Sentry currently accepts no events",
            retryAfter: wait,
            domain: "sentry",
            detail: 429
        )
    }

    /// The seconds for which Sentry refuses events; nil if it accepts them.
    static func seconds(of response: HTTPResponse, now: Timestamp) -> UInt64? {
        if let header = response.headers["X-Sentry-Rate-Limits"] {
            return header.split(separator: ",").compactMap { seconds(inLimit: $0) }.max()
        }
        guard response.status == 429 else { return nil }
        return response.retryAfter(now: now).map { $0.nanoseconds / 1_000_000_000 } ?? 60
    }

    /// Reads one limit, `seconds:category;category:scope:…`, if it covers events; without categories it covers
    /// everything.
    private static func seconds(inLimit limit: Substring) -> UInt64? {
        let parts = limit.split(separator: ":", omittingEmptySubsequences: false)
        let digits = parts.first?.filter { $0 != " " } ?? ""
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
        // What is too large for an integer is longer than the longest wait.
        let seconds = UInt64(digits) ?? .max
        guard parts.count > 1, !parts[1].isEmpty else { return seconds }
        return parts[1].split(separator: ";").contains { $0 == "error" || $0 == "all" } ? seconds : nil
    }
}
