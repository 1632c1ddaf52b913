// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import DequeModule
import Synchronization

/// What changes in the services of one gate, all behind one lock.
struct GateServicesState {
    /// By id, allocated when first asked for.
    var tables: [String: ServiceTable] = [:]
    /// Whether timers and requests are refused.
    var isClosed = false
    /// Whether the tables are freed.
    var isInvalid = false

    /// Callbacks into the plugin that wait for the one that runs.
    var callbacks = Deque<@Sendable () -> Void>()
    /// Whether a thread runs callbacks or is about to.
    var isDelivering = false
    /// Who waits for that to end.
    var waiters: [OneShot<Void>] = []

    /// Timers that have not fired, by the id that the plugin knows.
    var timers: [UInt64: GateTimer] = [:]
    /// Requests that have not ended, by the id that the plugin knows.
    var requests: [UInt64: GateRequest] = [:]
    /// What went over the wire.
    var counters = HTTPCounters()

    /// The next callback; with none left, those who wait for that.
    mutating func nextCallback() -> (callback: (@Sendable () -> Void)?, waiters: [OneShot<Void>]) {
        if let callback = callbacks.popFirst() { return (callback, []) }
        isDelivering = false
        defer { waiters = [] }
        return (nil, waiters)
    }
}

/// Ids of timers and requests: unique in the process, so that one gate's mean nothing to another.
enum ServiceIdentifier {
    private static let last = Atomic<UInt64>(0)

    /// Another one, never 0.
    static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}
