// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import Synchronization

/// A rate limiter: admits requests at even intervals, in order of arrival.
final class RequestPace: Sendable {
    private let interval: UInt64
    private let clock: any ClockService
    /// When the next request may start, in nanoseconds of the monotonic clock.
    private let next = Mutex<UInt64>(0)
    /// When the server answered last, on the same clock; nil before the first answer.
    private let answered = Mutex<UInt64?>(nil)

    init(perSecond: Double, clock: any ClockService) {
        interval = UInt64(clamping: Int64(1e9 / max(0.001, min(perSecond, 1e6))))
        self.clock = clock
    }

    /// Notes that the server has answered.
    func noteAnswer() { answered.withLock { $0 = clock.monotonic } }

    /// Whether the server has answered within the last minute.
    var isAnswered: Bool {
        let now = clock.monotonic
        return answered.withLock { $0.map { now < $0 || now - $0 < 60_000_000_000 } } ?? false
    }

    /// Waits until this request may start. The slot of a cancelled request stays unused unless it is the last one, so
    /// that the next does not start too early.
    ///
    /// - Throws: `rateLimited` at once if its turn would come after the call's deadline, so that it takes no slot from
    ///   another request.
    func wait() async throws(PluginError) {
        let now = clock.monotonic
        let (turn, isInTime) = next.withLock { next -> (UInt64, Bool) in
            let turn = max(now, next)
            guard turn < Deadline.current else { return (turn, false) }
            next = turn &+ interval
            return (turn, true)
        }
        guard isInTime else {
            throw PluginError(
                .rateLimited,
                "more calls wait than \"requestsPerSecond\" lets through before this one's deadline",
                isRetryable: true,
                retryAfter: .nanoseconds(Int64(clamping: turn - now)),
                domain: "nominatim"
            )
        }
        guard turn > now else { return }
        do throws(PluginError) {
            try await clock.sleep(for: .nanoseconds(Int64(clamping: turn - now)))
        } catch {
            next.withLock { if $0 == turn &+ interval { $0 = turn } }
            throw error
        }
    }
}
