// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorOneShot
package import DequeModule
internal import Synchronization

/// The mutable state of one gate's services, behind one lock.
package struct GateServicesState {
    /// The tables by service id, allocated on first use.
    package var tables: [String: ServiceTable] = [:]
    /// Whether timers and requests are refused.
    package var isStopped = false
    /// Whether the tables are freed.
    package var isInvalid = false

    /// The callbacks that wait for the running one.
    package var callbacks = Deque<@Sendable () -> Void>()
    /// Whether a thread runs callbacks, or is about to.
    package var isDelivering = false
    /// The waiters for the last callback to return.
    package var waiters: [OneShot<Void>] = []

    /// The timers that have not fired, by the id that the plugin knows.
    package var timers: [UInt64: GateTimer] = [:]
    /// The requests that are not complete, by the id that the plugin knows.
    package var requests: [UInt64: GateRequest] = [:]
    /// The gate's traffic.
    package var counters = HTTPCounters()

    /// The next callback; if none is left, the waiters to resume.
    package mutating func nextCallback() -> (callback: (@Sendable () -> Void)?, waiters: [OneShot<Void>]) {
        if let callback = callbacks.popFirst() { return (callback, []) }
        isDelivering = false
        defer { waiters = [] }
        return (nil, waiters)
    }
}

/// Ids of timers and requests, unique in the process, so that one gate's ids mean nothing to another.
package enum ServiceIdentifier {
    private static let last = Atomic<UInt64>(0)

    /// A new id, never 0.
    package static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}
