// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform
package import Logging
package import Synchronization

/// The host services of one plugin instance: its function tables, timers, requests and callbacks.
///
/// The life cycle: it is created before the instance; the plugin calls `table` any number of times;
/// ``stopAndAwaitCallbacks()`` cancels timers and requests, and waits for every callback; the plugin's `destroy` runs;
/// ``invalidate()`` gives up the tables.
///
/// ``ServiceTables`` retains this object from the first table until ``invalidate()``.
package final class GateServices: InstanceServices {
    /// The parts shared with other gates.
    package let host: HostServices
    /// The gate's path, secrets and limits.
    package let context: Context
    /// The log, tagged with the gate's path.
    package var logger: Logger { context.logger }
    /// The hosts that requests may reach.
    package let egress: EgressList
    /// The responses that may be reused.
    package let cache: Mutex<HTTPCache>
    /// The gate's stored values. The instance keeps them when the gate moves: its last calls and its end come later.
    package let storage: GateStorage
    /// The connections of the plugin's requests.
    let connections: GateConnections
    /// The bodies of requests in progress, whole and in parts.
    let bodies: HeldBytes
    /// The responses that are collected.
    let responses: HeldBytes
    /// The arguments of calls of used gates in progress.
    let arguments: HeldBytes
    /// Which lines of the plugin's log are logged.
    private let logLimit = Mutex(LineLimit.ofPlugin)
    /// The plugin's timers.
    let timers: PluginTimers
    /// The mutable state.
    package let state = Mutex(GateServicesState())

    /// Creates the services of a gate without starting anything.
    package init(host: HostServices, context: Context) {
        self.host = host
        self.context = context
        egress = EgressList(context.egress, isSimulated: context.vendor != nil)
        cache = Mutex(HTTPCache(limit: context.cacheBytes))
        storage = host.storage(of: context.path, logger: context.logger)
        let options = host.options
        connections = GateConnections(options: options.http)
        bodies = HeldBytes("the bodies of this connector's requests in progress", limit: options.http.bodiesLimit)
        responses = HeldBytes(
            "the responses to this connector's requests in progress",
            limit: options.http.responsesLimit
        )
        arguments = HeldBytes("the arguments of this connector's calls in progress", limit: options.argumentsLimit)
        timers = PluginTimers(clock: host.clock)
    }

    /// Logs the undeclared services that `create` requested. Call it once `create` has returned.
    package func instanceWasCreated() {
        for id in state.withLock({ $0.instanceWasCreated() }) { logUndeclared(id) }
    }

    /// Logs that the plugin requested a service that its manifest does not declare.
    func logUndeclared(_ id: String) {
        logger.warning(
            "plugin asked for a service that its manifest does not declare",
            metadata: [
                "service": "\(context.redactor.redact(id))", "fix": "name it in the manifest's \"services\"",
            ]
        )
    }

    /// Whether the plugin may log another line; first logs how many were dropped.
    func mayLog(_ bytes: Int) -> Bool {
        let now = host.clock.now()
        guard let leftOut = logLimit.withLock({ $0.admit(bytes, at: now) }) else { return false }
        logLeftOut(leftOut)
        return true
    }

    /// Logs how many lines of the plugin's log were dropped.
    private func logLeftOut(_ count: Int) {
        guard count > 0 else { return }
        logger.warning(
            "lines of the plugin were dropped",
            metadata: ["lines": "\(count)", "limit": "\(LineLimit.ofPlugin)"]
        )
    }

    /// What is pending that may complete an operation.
    package func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork {
        // Check the timers first: a due timer joins the callbacks before it stops being pending.
        let hasTimer = timers.isWaiting(for: operation)
        let (work, isWaiting) = state.withLock { state in
            (state.unfinishedWork(for: operation, during: span), state.isWaiting(for: operation))
        }
        if let work { return .late(work.lateness) }
        return hasTimer || isWaiting ? .other : .nothing
    }

    /// The gate is being opened or proved: until ``proofEnds()``, no request is answered from ``cache`` unless the server confirms it.
    package func proofBegins() {
        state.withLock { $0.proofs += 1 }
    }

    /// The opening or the proof has ended.
    package func proofEnds() {
        state.withLock { $0.proofs -= 1 }
    }

    /// Whether one callback has been inside the plugin since before a moment, in the clock's monotonic time.
    package func hasCallbackInside(since moment: UInt64) -> Bool {
        state.withLock(\.callbacks.callbackSince).map { $0 < moment } ?? false
    }

    /// Whether a callback runs inside the plugin.
    package var isInCallback: Bool { state.withLock(\.callbacks.isInCallback) }

    /// The gate's traffic so far.
    package var counters: HTTPCounters { state.withLock { $0.counters } }

    // MARK: The end

    /// Cancels every timer, request and call, and returns once all callbacks into the plugin have returned.
    ///
    /// Each pending request or call completes with CONNECTOR_CANCELLED. New timers, requests and calls are refused from now on; log,
    /// clock and storage work until ``invalidate()``. Idempotent.
    ///
    /// - Note: Waits forever for a callback that never returns. Callers set a deadline, and do not call `destroy` if it
    ///   passes.
    package func stopAndAwaitCallbacks() async {
        await stop()?.wait()
    }

    /// Cancels every timer, request and call, without waiting for callbacks.
    ///
    /// - Returns: An event that fires once all callbacks have returned; nil if none is running or queued.
    package func stop() -> OneShot<Void>? {
        let (requests, calls) = state.withLock { state in
            state.isStopped = true
            return (Array(state.requests.keys), Array(state.calls.keys))
        }
        timers.stop()
        for request in requests { completeRequest(request, .failure(.cancelled("the gate is closing"))) }
        for call in calls { completeCall(call, .failure(.cancelled("the gate is closing"))) }
        return state.withLock { state in
            guard state.callbacks.isDelivering else { return nil }
            let quiet = OneShot<Void>()
            state.waiters.append(quiet)
            return quiet
        }
    }

    /// Stops handing out tables, closes the connections, and gives up the reference that kept the tables lent alive. Call it after
    /// the instance's `destroy` has returned, or never.
    package func invalidate() {
        state.withLock { $0.isStopped = true }
        logLeftOut(logLimit.withLock { $0.takeLeftOut() })
        host.http.end(connections)
        tables.end()
    }

    // MARK: Callbacks

    /// Queues a callback into the plugin. A gate's callbacks run one at a time, in order, on a worker thread.
    package func deliver(_ callback: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.callbacks.append(callback) }) { startCallbacks() }
    }

    /// Starts a thread for the queued callbacks. Call it if ``CallbackQueue/append(_:)`` returned true.
    package func startCallbacks() {
        host.callbacks.run { self.runCallbacks() }
    }

    private func runCallbacks() {
        HostThread.run {
            while let callback = nextCallback() { callback() }
        } finally: { [self] hasReturned in
            guard !hasReturned else { return }
            logger.warning("plugin misbehaved", metadata: ["what": "a callback ended its thread (pthread_exit)"])
            startCallbacks()
        }
    }

    private func nextCallback() -> (@Sendable () -> Void)? {
        let now = host.clock.now()
        let step = state.withLock { $0.nextCallback(at: now) }
        for waiter in step.waiters { waiter.send() }
        return step.callback
    }
}
