// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
package import DequeModule

/// The mutable state of one gate's services, behind one lock.
package struct GateServicesState {
    /// The tables by service id, allocated on first use.
    package var tables: [String: ServiceTable] = [:]
    /// Whether timers and requests are refused.
    package var isStopped = false
    /// Whether the tables are freed.
    package var isInvalid = false

    /// The services of the host that the plugin asked for while `create` ran.
    private var surveyed: Set<String> = []
    /// The services that the manifest does not declare and the plugin asked for.
    private var undeclared: Set<String> = []
    /// Whether `create` has returned.
    private var isCreated = false

    /// The callbacks that wait for the running one.
    package var callbacks = Deque<@Sendable () -> Void>()
    /// Whether a thread runs callbacks, or is about to.
    package var isDelivering = false
    /// Whether a callback runs inside the plugin.
    package var isInCallback = false
    /// The waiters for the last callback to return.
    package var waiters: [OneShot<Void>] = []

    /// The timers that have not fired, by the id that the plugin knows.
    package var timers: [UInt64: GateTimer] = [:]
    /// The requests that are not complete, by the id that the plugin knows.
    package var requests: [UInt64: RequestInFlight] = [:]
    /// The gate's traffic.
    package var counters = HTTPCounters()

    /// The most undeclared services that are logged.
    private static let undeclaredLimit = 16

    /// Records that the plugin asks for a service.
    ///
    /// - Returns: Whether to log now that the manifest does not declare it.
    package mutating func requests(for id: String, isDeclared: Bool) -> Bool {
        let isKnown = Manifest.hostServices.contains(id)
        if isKnown, !isCreated { surveyed.insert(id) }
        guard !isDeclared, undeclared.count < Self.undeclaredLimit, undeclared.insert(id).inserted else { return false }
        return isCreated || !isKnown
    }

    /// Records that `create` has returned.
    ///
    /// - Returns: The undeclared services to log: none if the plugin asked for every one there is.
    package mutating func instanceWasCreated() -> [String] {
        isCreated = true
        guard surveyed.count < Manifest.hostServices.count else { return [] }
        return undeclared.filter(surveyed.contains).sorted()
    }

    /// Queues a callback. From then on it counts as under way until it has returned.
    ///
    /// - Returns: Whether the caller must start the thread that runs callbacks.
    package mutating func queue(_ callback: @escaping @Sendable () -> Void) -> Bool {
        callbacks.append(callback)
        defer { isDelivering = true }
        return !isDelivering
    }

    /// The next callback; if none is left, the waiters to resume.
    package mutating func nextCallback() -> (callback: (@Sendable () -> Void)?, waiters: [OneShot<Void>]) {
        if let callback = callbacks.popFirst() {
            isInCallback = true
            return (callback, [])
        }
        isInCallback = false
        isDelivering = false
        defer { waiters = [] }
        return (nil, waiters)
    }
}
