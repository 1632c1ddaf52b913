// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Why a lane's stream has stopped.
package enum LaneStop: UInt8, Sendable {
    /// The caller's deadline has passed.
    case late = 1
    /// The runner has ended.
    case over
    /// The other side has broken the protocol.
    case corrupt
}

/// Tells a thread that waits in a lane to stop waiting; whoever sets it wakes the thread afterwards.
package final class LaneInterruption: Sendable {
    private let reason = Atomic<UInt8>(0)

    /// Creates one that signals nothing.
    package init() {}

    /// Why to stop; nil to continue.
    var stop: LaneStop? { LaneStop(rawValue: reason.load(ordering: .sequentiallyConsistent)) }

    /// Stops the thread. The end of the runner is final, and overrides a deadline that has passed.
    func set(_ stop: LaneStop) {
        if stop == .over {
            reason.store(stop.rawValue, ordering: .sequentiallyConsistent)
        } else {
            _ = reason.compareExchange(expected: 0, desired: stop.rawValue, ordering: .sequentiallyConsistent)
        }
    }

    /// Forgets the deadline of the last call.
    func clearLate() {
        _ = reason.compareExchange(expected: LaneStop.late.rawValue, desired: 0, ordering: .sequentiallyConsistent)
    }
}
