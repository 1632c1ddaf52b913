// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Tracks how long Sentry accepts no events (develop.sentry.dev/sdk/expected-features/rate-limiting).
final class SentryRateLimits: Sendable {
    private let clock: any ClockService
    /// The end of the limit, in nanoseconds of the monotonic clock; 0 without a limit.
    private let closedUntil = Mutex<UInt64>(0)

    init(clock: any ClockService) {
        self.clock = clock
    }

    /// The remaining wait; nil without a limit.
    var wait: Duration? {
        let until = closedUntil.withLock { $0 }
        let now = clock.monotonic
        return until > now ? .nanoseconds(Int64(clamping: until - now)) : nil
    }

    /// Throws while Sentry would refuse an event.
    func check() throws(PluginError) {
        guard let wait else { return }
        throw PluginError(
            .rateLimited,
            "Sentry currently accepts no events",
            retryAfter: wait,
            domain: "sentry",
            detail: 429
        )
    }

    /// Reads the limit from an answer of any status; keeps the longer of two limits.
    func learn(from response: HTTPResponse) {
        guard let seconds = Self.seconds(of: response, now: clock.now), seconds > 0 else { return }
        let until = clock.monotonic &+ min(seconds, 31_536_000) &* 1_000_000_000
        closedUntil.withLock { $0 = max($0, until) }
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
        guard let first = parts.first, let seconds = UInt64(first.filter { $0 != " " }) else { return nil }
        guard parts.count > 1, !parts[1].isEmpty else { return seconds }
        return parts[1].split(separator: ";").contains { $0 == "error" || $0 == "all" } ? seconds : nil
    }
}
