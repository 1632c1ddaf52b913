// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorPlatform

/// A host clock as a `Clock` of the standard library, for the delays of simulated vendors.
package struct HostTime: Clock {
    /// A moment, as the time since the host clock's zero.
    package struct Instant: InstantProtocol {
        fileprivate var nanoseconds: UInt64

        /// The moment after a duration.
        package func advanced(by duration: Duration) -> Instant {
            Instant(nanoseconds: nanoseconds.saturatingAdding(duration.nanoseconds))
        }

        /// How long until another moment.
        package func duration(to other: Instant) -> Duration {
            let (first, last) = (min(nanoseconds, other.nanoseconds), max(nanoseconds, other.nanoseconds))
            let distance = Duration.nanoseconds(Int64(clamping: last - first))
            return nanoseconds <= other.nanoseconds ? distance : .zero - distance
        }

        /// Whether one moment is before another.
        package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    private let clock: any HostClock

    /// Wraps a clock.
    package init(_ clock: any HostClock) {
        self.clock = clock
    }

    /// The clock's current time.
    package var now: Instant { Instant(nanoseconds: clock.now()) }

    /// A nanosecond.
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until a moment.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let moment = OneShot<Void>()
        let timer = clock.schedule(at: deadline.nanoseconds) { moment.send() }
        guard await moment.waitUnlessCancelled() == nil else { return }
        clock.cancel(timer)
        throw CancellationError()
    }
}
