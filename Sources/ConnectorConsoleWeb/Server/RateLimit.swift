// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets so many things happen at once, and so many a second after that.
final class RateLimit: Sendable {
    private struct State {
        var left: Double
        var last: UInt64?
    }

    private let perSecond: Double
    private let burst: Double
    private let state: Mutex<State>

    /// Begins with a full burst.
    init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
        state = Mutex(State(left: burst))
    }

    /// Counts one thing.
    ///
    /// - Parameter now: The monotonic time in nanoseconds.
    /// - Returns: Whether it may happen.
    func take(at now: UInt64) -> Bool {
        state.withLock { state in
            let passed = state.last.map { now > $0 ? now - $0 : 0 } ?? 0
            state.left = min(burst, state.left + Double(passed) / 1e9 * perSecond)
            state.last = now
            guard state.left >= 1 else { return false }
            state.left -= 1
            return true
        }
    }
}
