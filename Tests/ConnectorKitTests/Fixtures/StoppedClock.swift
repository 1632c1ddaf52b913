// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// A clock that moves only when somebody sleeps on it, by as much as they wanted to sleep.
final class StoppedClock: ClockService {
    private struct State {
        var nanoseconds: UInt64 = 0
        var sleeps: [Duration] = []
    }

    private let state = Mutex(State())
    /// The time of day when the clock was made.
    private let start = Timestamp(parsing: "2026-01-31T09:30:00Z") ?? Timestamp(nanoseconds: 0)

    var now: Timestamp { Timestamp(nanoseconds: start.nanoseconds + monotonic) }

    var monotonic: UInt64 { state.withLock { $0.nanoseconds } }

    /// Reads 0 from now on, as a host's clock does once the host has closed.
    func close() { state.withLock { $0.nanoseconds = 0 } }

    /// How long each sleeper slept.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    func sleep(for duration: Duration) async throws(PluginError) {
        state.withLock { state in
            state.sleeps.append(duration)
            state.nanoseconds += duration.nanoseconds
        }
    }
}
