// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorOneShot
package import DequeModule
internal import Synchronization

/// What changes in the services of one gate, all behind one lock.
package struct GateServicesState {
    /// By id, allocated when first asked for.
    package var tables: [String: ServiceTable] = [:]
    /// Whether timers and requests are refused.
    package var isClosed = false
    /// Whether the tables are freed.
    package var isInvalid = false

    /// Callbacks into the plugin that wait for the one that runs.
    package var callbacks = Deque<@Sendable () -> Void>()
    /// Whether a thread runs callbacks or is about to.
    package var isDelivering = false
    /// Who waits for that to end.
    package var waiters: [OneShot<Void>] = []

    /// Timers that have not fired, by the id that the plugin knows.
    package var timers: [UInt64: GateTimer] = [:]
    /// Requests that have not ended, by the id that the plugin knows.
    package var requests: [UInt64: GateRequest] = [:]
    /// What went over the wire.
    package var counters = HTTPCounters()

    /// The next callback; with none left, those who wait for that.
    package mutating func nextCallback() -> (callback: (@Sendable () -> Void)?, waiters: [OneShot<Void>]) {
        if let callback = callbacks.popFirst() { return (callback, []) }
        isDelivering = false
        defer { waiters = [] }
        return (nil, waiters)
    }
}

/// Ids of timers and requests: unique in the process, so that one gate's mean nothing to another.
package enum ServiceIdentifier {
    private static let last = Atomic<UInt64>(0)

    /// Another one, never 0.
    package static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}
