// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform
internal import Synchronization

/// A plugin's call of a gate that it uses, in progress.
package struct UsedGateCallInFlight: Sendable {
    /// The callback to run.
    package var callback: GatesCallback
    /// The trace in which the plugin made the call and in which the callback runs.
    package var trace: TraceContext
    /// The plugin's own call that this one serves; nil for none.
    package var outer: UInt64?
    /// The plugin's name for the gate.
    package var use: String
    /// When it began, in monotonic nanoseconds.
    package var begun: UInt64
    /// The deadline that the plugin set, in monotonic nanoseconds; nil for none.
    package var deadline: UInt64?
    /// How many bytes the arguments count for.
    package var size = 0
    /// The task that makes the call; nil while it is being started.
    package var task: Task<Void, Never>?
}

extension UsedGateCallInFlight {
    /// The operation that it serves.
    var served: ServedOperation { ServedOperation(named: outer, begun: begun, deadline: deadline) }
}

extension GateServices {
    /// The maximum number of calls of used gates that one gate may have in progress.
    package static let callLimit = 1024

    /// Throws unless a connector is bound to a use: `unsupported` if the use is optional, `invalid` if the manifest
    /// names no such use.
    package func checkUse(_ use: String) throws(ServiceFailure) {
        let (names, unbound) = (context.gates?.names ?? [], context.gates?.unbound ?? [])
        if names.contains(use) { return }
        if unbound.contains(use) {
            throw ServiceFailure(
                status: Int32(CONNECTOR_UNSUPPORTED),
                message: "the optional use \"\(use)\" is bound to no connector"
            )
        }
        let known = (names + unbound).sorted().joined(separator: ", ")
        throw .invalid(
            "the manifest's \"uses\" does not name \"\(use.excerpt)\"\(known.isEmpty ? "" : "; it names \(known)")"
        )
    }

    /// Calls a used gate under an existing id, and completes the call with a callback.
    ///
    /// Parses the arguments once they have room.
    package func startCall(
        _ id: UInt64,
        _ template: GateCallTemplate,
        _ callback: GatesCallback
    ) throws(ServiceFailure) {
        try checkUse(template.use)
        guard let gates = context.gates else { return }
        let given = template.during == 0 ? nil : state.withLock { $0.traces[template.during] }
        let trace = given ?? TraceContext.current
        let outer = template.during == 0 ? trace.operation : template.during
        let size = template.parsedSize
        let now = host.clock.now()
        try state.withLock { state throws(ServiceFailure) in
            guard !state.isStopped else { throw .notOpen }
            guard state.calls.count < Self.callLimit else {
                throw ServiceFailure(
                    status: Int32(CONNECTOR_RATE_LIMITED),
                    message: "\(Self.callLimit) calls of used gates are already in progress",
                    isRetryable: true
                )
            }
            try arguments.take(size)
            state.calls[id] = UsedGateCallInFlight(
                callback: callback,
                trace: trace,
                outer: outer,
                use: template.use,
                begun: now,
                deadline: template.deadline == .max ? nil : template.deadline,
                size: size
            )
        }
        var call: UsedGateCall
        do throws(ServiceFailure) {
            call = try UsedGateCall(template)
        } catch {
            // If the gate has closed meanwhile, the call has ended by its callback.
            guard state.withLock({ $0.calls.removeValue(forKey: id) }) != nil else { return }
            arguments.giveBack(size)
            throw error
        }
        // A call that the plugin has already completed no longer limits this one.
        if let outer, outer == trace.operation, OperationTable.shared.isPending(outer) {
            call.template.deadline = min(call.template.deadline, trace.deadline)
        }
        // The task inherits the trace.
        let task = trace.run { Task { [call] in completeCall(id, await gates.call(call)) } }
        let isUnderWay = state.withLock { state in
            guard state.calls[id] != nil else { return false }
            state.calls[id]?.task = task
            return true
        }
        if !isUnderWay { task.cancel() }
        // `cancelCalls` may have run before this call was registered.
        if let outer, OperationTable.shared.wasGivenUp(outer) { cancelCalls(during: outer) }
    }

    /// Completes a call, at most once: the result, the plugin, the giving up of its outer call and the closing gate
    /// race to complete it.
    package func completeCall(_ id: UInt64, _ result: Result<[UInt8], ServiceFailure>) {
        let now = host.clock.now()
        // Remove the call and queue its callback in one step, so that a closing gate always sees one of them.
        let (call, isIdle) = state.withLock { state -> (UsedGateCallInFlight?, Bool) in
            guard let call = state.calls.removeValue(forKey: id) else { return (nil, false) }
            arguments.giveBack(call.size)
            if case .failure(let failure) = result { state.late.add(call.served, failure, at: now) }
            return (call, state.callbacks.append { call.trace.run { call.callback.call(result) } })
        }
        guard let call else { return }
        call.task?.cancel()
        if isIdle { startCallbacks() }
    }

    /// Remembers the trace and the deadline of a call to the plugin, so that they also apply to the calls that the
    /// plugin makes for it on threads of its own.
    package func callBegins(_ trace: TraceContext) {
        guard context.gates != nil, let operation = trace.operation else { return }
        state.withLock { $0.traces[operation] = trace }
    }

    /// Forgets a call to the plugin that has ended.
    package func callEnds(_ operation: UInt64) {
        guard context.gates != nil else { return }
        state.withLock { $0.traces[operation] = nil }
    }

    /// Cancels the requests, and the calls of used gates, that serve one of the plugin's own calls, which the host has given up.
    package func cancelCalls(during outer: UInt64) {
        let (requests, calls) = state.withLock { state in
            (
                state.requests.filter { $0.value.outer == outer }.map(\.key),
                state.calls.filter { $0.value.outer == outer }.map(\.key)
            )
        }
        let failure = ServiceFailure.cancelled("the call that needed it was given up")
        for request in requests { giveUpRequest(request, failure) }
        for call in calls { completeCall(call, .failure(failure)) }
    }
}
