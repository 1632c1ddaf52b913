// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorManifest

/// The mutable state of one gate's services, behind one lock.
package struct GateServicesState {
    /// The tables; nil before the first one is asked for.
    package var tables: ServiceTables?
    /// Whether timers and requests are refused.
    package var isStopped = false

    /// The host's services that the plugin requested during `create`.
    private var surveyed: Set<String> = []
    /// The services that the plugin requested and its manifest does not declare.
    private var undeclared: Set<String> = []
    /// Whether `create` has returned.
    private var isCreated = false

    /// The callbacks into the plugin.
    package var callbacks = CallbackQueue()
    /// The waiters for the last callback's return.
    package var waiters: [OneShot<Void>] = []

    /// The pending requests, by the id that the plugin knows.
    package var requests: [UInt64: RequestInFlight] = [:]
    /// The calls of used gates in progress, by the id that the plugin knows.
    package var calls: [UInt64: UsedGateCallInFlight] = [:]
    /// The traces of the plugin's own calls in progress, by operation; empty if it uses no gates.
    package var traces: [UInt64: TraceContext] = [:]
    /// What has ended at its deadline a moment ago.
    var late = LateWork()
    /// How many openings and proofs are under way.
    package var proofs = 0
    /// The gate's traffic.
    package var counters = HTTPCounters()

    /// Whether a callback, a request or a call is pending that may complete an operation.
    func isWaiting(for operation: UInt64) -> Bool {
        callbacks.isDelivering
            || requests.values.contains { $0.outer == operation || $0.trace.mayComplete(operation) }
            || calls.values.contains { $0.outer.map { $0 == operation } ?? true }
    }

    /// A request or a call that serves an operation, by the surest mark that any has; nil if the host knows of none.
    ///
    /// - Parameter span: From the operation's beginning to its deadline, in monotonic nanoseconds.
    func unfinishedWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> UnfinishedWork? {
        for mark in ServedOperation.Mark.allCases {
            guard let work = unfinishedWork(for: operation, during: span, by: mark) else { continue }
            // Another operation of the plugin could have begun it as well.
            return mark == .time && !OperationTable.shared.isOnlyCall(operation) ? nil : work
        }
        return nil
    }

    private func unfinishedWork(
        for operation: UInt64,
        during span: ClosedRange<UInt64>,
        by mark: ServedOperation.Mark
    ) -> UnfinishedWork? {
        if let request = requests.values.first(where: { $0.served.isFor(operation, during: span, by: mark) }) {
            return .request(request.exchange)
        }
        if let call = calls.values.first(where: { $0.served.isFor(operation, during: span, by: mark) }) {
            return .call(use: call.use)
        }
        return late.failure(of: operation, during: span, by: mark).map { .ended($0) }
    }

    /// Records that the plugin requests a service.
    ///
    /// - Returns: Whether to log now that the service is undeclared.
    package mutating func requests(for id: String, isDeclared: Bool) -> Bool {
        let isKnown = Manifest.hostServices.contains(id)
        if isKnown, !isCreated { surveyed.insert(id) }
        guard !isDeclared, undeclared.count < Manifest.deniedServicesLimit, undeclared.insert(id).inserted else {
            return false
        }
        return isCreated || !isKnown
    }

    /// Records that `create` has returned.
    ///
    /// - Returns: The undeclared services to log: none if the plugin requested every service of the host.
    package mutating func instanceWasCreated() -> [String] {
        isCreated = true
        guard surveyed.count < Manifest.hostServices.count else { return [] }
        return undeclared.filter(surveyed.contains).sorted()
    }

    /// The next callback; if there is none, the waiters to resume.
    ///
    /// - Parameter now: The monotonic time.
    package mutating func nextCallback(at now: UInt64) -> (callback: (@Sendable () -> Void)?, waiters: [OneShot<Void>])
    {
        let callback = callbacks.next(at: now)
        guard callback == nil else { return (callback, []) }
        defer { waiters = [] }
        return (nil, waiters)
    }
}
