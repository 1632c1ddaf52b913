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

    init(perSecond: Double, clock: any ClockService) {
        interval = UInt64(clamping: Int64(1e9 / max(0.001, min(perSecond, 1e6))))
        self.clock = clock
    }

    /// Waits until this request may start. The slot of a cancelled request stays unused, so that the next does not
    /// start too early.
    func wait() async throws(PluginError) {
        let now = clock.monotonic
        let turn = next.withLock { next -> UInt64 in
            let turn = max(now, next)
            next = turn &+ interval
            return turn
        }
        guard turn > now else { return }
        try await clock.sleep(for: .nanoseconds(Int64(clamping: turn - now)))
    }
}
