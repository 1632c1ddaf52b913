// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// Coalesces changes that may occur thousands of times a second: announces the first immediately, and later ones
/// together, at most once per interval.
///
/// The last change is always announced, at most one interval late.
final class ChangeThrottle: Sendable {
    private enum State {
        /// The next change is announced immediately.
        case idle
        /// An interval is running since the last announcement.
        case counting(hasChanged: Bool)
    }

    private let interval: UInt64
    private let clock: any HostClock
    private let announce: @Sendable () -> Void
    private let state = Mutex(State.idle)

    /// - Parameters:
    ///   - interval: The minimum time between two announcements, in nanoseconds.
    ///   - announce: Runs on the thread of the change, or on the clock's; it must not block.
    init(every interval: UInt64, on clock: any HostClock, _ announce: @escaping @Sendable () -> Void) {
        (self.interval, self.clock, self.announce) = (interval, clock, announce)
    }

    /// Notes a change. Within an interval it costs one lock.
    func note() {
        let isFirst = state.withLock { state in
            guard case .idle = state else {
                state = .counting(hasChanged: true)
                return false
            }
            state = .counting(hasChanged: false)
            return true
        }
        guard isFirst else { return }
        announce()
        count()
    }

    /// Starts an interval, after which changes are announced.
    private func count() {
        _ = clock.schedule(after: interval) { [weak self] in self?.intervalEnded() }
    }

    private func intervalEnded() {
        let hasChanged = state.withLock { state in
            guard case .counting(hasChanged: true) = state else {
                state = .idle
                return false
            }
            state = .counting(hasChanged: false)
            return true
        }
        guard hasChanged else { return }
        announce()
        count()
    }
}
