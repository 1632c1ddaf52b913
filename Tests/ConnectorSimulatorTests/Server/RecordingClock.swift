// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock on which waiting takes no time, and that records how long each wait was.
final class RecordingClock: Clock {
    /// A moment, as the time since the clock was made.
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        func duration(to other: Instant) -> Duration { other.offset - offset }

        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private let state = Mutex((now: Instant(offset: .zero), slept: [Duration]()))

    var now: Instant { state.withLock { $0.now } }

    var minimumResolution: Duration { .zero }

    /// The lengths of the waits, in order.
    var slept: [Duration] { state.withLock { $0.slept } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        state.withLock { state in
            state.slept.append(state.now.duration(to: deadline))
            state.now = deadline
        }
    }
}
