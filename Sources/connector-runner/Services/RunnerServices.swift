// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// The services of an instance in a runner, which ask the host, except for the time, which is read here unless the gate is recorded,
/// replayed, or follows the host's clock.
///
/// ``ServiceTables`` retains this object from the first table until ``invalidate()``. Callbacks into the plugin run one at a time, in
/// order, on a worker thread.
final class RunnerServices: InstanceServices, ServiceFunctions {
    let description: InstanceDescription
    let dependencies: CallDependencies
    let requests: HostRequests
    /// The host's clock; nil unless the instance follows it.
    private let remoteClock: RemoteClock?
    /// The plugin's clock.
    let clock: any HostClock
    /// The plugin's timers.
    let timers: PluginTimers
    private let usesGates: Bool
    let state = Mutex(State())

    /// The host's id of the call that the current task makes.
    @TaskLocal static var hostOperation: UInt64?

    struct State: Sendable {
        /// The tables; nil before the first one is asked for.
        var tables: ServiceTables?
        /// The services that the plugin asked for but may not use.
        var denied: Set<String> = []
        var isStopped = false
        /// Whether the host has said that no reply follows.
        var isQuiet = false
        /// The host's ids of pending operations, by those of this process.
        var operations: [UInt64: UInt64] = [:]
        /// The traces of the plugin's own calls in progress, by the ids of this process; empty if it uses no gates.
        var traces: [UInt64: TraceContext] = [:]
        /// The plugin's requests, each with the trace of the operation that made it.
        var requests: [UInt64: (callback: RequestCallback, trace: TraceContext)] = [:]
        /// The same for its calls of used gates.
        var calls: [UInt64: (callback: GatesCallback, trace: TraceContext)] = [:]
        var callbacks = CallbackQueue()
        var drained: OneShot<Void>?
        /// The functions of calls and phases.
        var running = RunningFunctions()
        /// Whether the host knows that the plugin has started a timer.
        var hasTimers = false
    }

    init(_ number: UInt32, _ description: InstanceDescription, _ socket: RunnerSocket, _ dependencies: CallDependencies)
    {
        self.description = description
        self.dependencies = dependencies
        let requests = HostRequests(number, socket)
        let remoteClock = description.followsHostClock ? RemoteClock(requests) : nil
        let clock: any HostClock = if let remoteClock { remoteClock } else { dependencies.clock }
        self.requests = requests
        self.remoteClock = remoteClock
        self.clock = clock
        timers = PluginTimers(clock: clock)
        usesGates = description.services.contains("gates/1")
    }

    // MARK: Operations

    /// Records the host's id of an operation.
    func map(_ own: UInt64, to host: UInt64) { state.withLock { $0.operations[own] = host } }

    /// Forgets an operation.
    func unmap(_ own: UInt64) { _ = state.withLock { $0.operations.removeValue(forKey: own) } }

    /// The host's id of an operation; `none` if there is no such operation.
    func hostOperation(_ own: UInt64?, orElse none: UInt64 = 0) -> UInt64 {
        own.flatMap { own in state.withLock { $0.operations[own] } } ?? none
    }

    /// Maps the id of a call that begins, in the task of ``hostOperation``.
    func callBegins(_ trace: TraceContext) {
        guard let own = trace.operation, let host = Self.hostOperation else { return }
        state.withLock { state in
            state.operations[own] = host
            state.running.enters(own, host)
            if usesGates { state.traces[own] = trace }
        }
    }

    func callEnds(_ operation: UInt64) {
        state.withLock { state in
            state.operations[operation] = nil
            state.traces[operation] = nil
        }
    }

    /// Tells the host that a function has returned, if it has given the call up, or if the call is still pending: otherwise the answer
    /// says as much.
    func functionReturned(from operation: UInt64) {
        guard let (host, isAskedFor) = state.withLock({ $0.running.returns(operation) }) else { return }
        if isAskedFor || dependencies.operations.isPending(operation) { sendReturn(of: host) }
    }

    /// Notes a call or a phase of the host, whose function may be entered.
    func operationArrives(_ host: UInt64) { state.withLock { $0.running.arrives(host) } }

    /// Notes that a call or a phase has its outcome.
    func operationEnds(_ host: UInt64) {
        if state.withLock({ $0.running.ends(host) }) { sendReturn(of: host) }
    }

    /// Notes that the function of a phase has returned, and tells the host.
    func phaseReturned(_ host: UInt64) {
        _ = state.withLock { $0.running.ends(host) }
        sendReturn(of: host)
    }

    /// Tells the host when the function of an operation that it has given up no longer runs.
    func reportReturn(of host: UInt64) {
        if state.withLock({ $0.running.asks(host) }) { sendReturn(of: host) }
    }

    /// Tells the host that the function of an operation no longer runs.
    private func sendReturn(of host: UInt64) {
        var message = MessageWriter()
        message.put(host)
        send(.returned, message)
    }

    /// Tells the host that a call waits for a thread of the instance, or no longer.
    func waitsForThread(_ operation: UInt64, _ isWaiting: Bool) {
        let host = state.withLock { state -> UInt64? in
            guard let host = state.operations[operation] else { return nil }
            state.running.waits(operation, isWaiting)
            return host
        }
        if let host { report(host, waitsFor: isWaiting ? .thread : nil) }
    }

    /// Tells the host what a call waits for; nil once it waits no longer. If this process ends meanwhile, the host knows that the call was
    /// not made.
    func report(_ host: UInt64, waitsFor wait: CallWait?) {
        var message = MessageWriter()
        message.put(host)
        message.put(wait?.rawValue ?? 0)
        send(.inLine, message)
    }

    /// Tells the host, which knows what it waits for, and what was running if this process ends.
    func lifeCycle(_ function: String, isInside: Bool) {
        var message = MessageWriter()
        message.put(function)
        message.put(isInside)
        send(.lifeCycle, message)
    }

    /// Does nothing: the host cancels them itself.
    func cancelCalls(during operation: UInt64) {}

    /// The host says what a late operation waited for.
    func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork { .other }

    // MARK: Messages

    func newIdentifier() -> UInt64 { requests.token() }

    /// Sends a message that has no answer.
    func send(_ kind: MessageKind, _ message: MessageWriter) { requests.send(kind, message) }

    /// Sends a message that has no answer about a request or a call in progress.
    func steer(_ kind: MessageKind, _ id: UInt64) {
        var message = MessageWriter()
        message.put(id)
        send(kind, message)
    }

    /// Takes a message of the host about the services.
    func receive(_ kind: MessageKind, _ message: inout MessageReader) throws(ConnectorError) {
        switch kind {
        case .answer: try requests.answer(&message)
        case .timerFired:
            let timer = try message.integer(UInt64.self)
            remoteClock?.fire(timer)
        case .reply: try reply(&message)
        case .gateReply: try gateReply(&message)
        case .stopped:
            state.withLock { $0.isQuiet = true }
            checkDrained()
        default: throw MessageReader.malformed
        }
    }

    // MARK: Callbacks

    /// Queues a callback into the plugin.
    func deliver(_ callback: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { $0.callbacks.append(callback) }
        if isFirst { dependencies.workers.run { self.runCallbacks() } }
    }

    private func runCallbacks() {
        lifeCycle(PluginFunction.callback, isInside: true)
        HostThread.run {
            var begun = SystemTime.monotonic()
            while let callback = state.withLock({ [begun] in $0.callbacks.next(at: begun) }) {
                callback()
                // The host times each callback, but needs no message for those that end at once.
                let now = SystemTime.monotonic()
                guard now - begun >= MissedDeadline.leastWait else { continue }
                begun = now
                lifeCycle(PluginFunction.callback, isInside: false)
                lifeCycle(PluginFunction.callback, isInside: true)
            }
        } finally: { [self] hasReturned in
            lifeCycle(PluginFunction.callback, isInside: false)
            guard !hasReturned else { return checkDrained() }
            requests.misbehaved(PluginFunction(PluginFunction.callback).endedThreadError.message)
            dependencies.workers.run { self.runCallbacks() }
        }
    }

    // MARK: The end

    /// Cancels timers, and asks the host to stop everything else; each pending request then ends as cancelled.
    func stop() -> OneShot<Void>? {
        let (drained, isFirst) = state.withLock { state in
            defer { state.isStopped = true }
            let drained = state.drained ?? OneShot()
            state.drained = drained
            return (drained, !state.isStopped)
        }
        timers.stop()
        if isFirst { send(.stop, MessageWriter()) }
        return drained
    }

    private func checkDrained() {
        let drained = state.withLock { $0.isQuiet && !$0.callbacks.isDelivering ? $0.drained : nil }
        drained?.send(())
    }

    /// Hands out no more tables, after `destroy` has returned.
    func invalidate() {
        state.withLock { $0.isStopped = true }
        tables.end()
    }
}
