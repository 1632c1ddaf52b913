// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// Calls and phases: what the host asks of an instance in a runner.
extension RemoteChannel {
    /// Starts a phase in the runner.
    package func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {
        var message = MessageWriter()
        message.put(phase.rawValue)
        message.put(operation)
        message.put(deadline)
        let trace = TraceContext(operation: operation, deadline: deadline)
        start(.begin, operation, phase.rawValue, isRepeatable: true, trace, message.bytes)
    }

    /// Calls an operation in the runner, and awaits its answer, its deadline, or the cancellation of the caller's task.
    package func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult {
        let result = try await call(name, arguments, options, by: deadline)
        extendLifetime(admission)
        return result
    }

    /// Calls an operation for an admitted caller.
    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64
    ) async throws(ConnectorError) -> CallResult {
        guard let operation = manifest.operation(named: name)?.operation else { throw manifest.unknownOperation(name) }
        if let problem = manifest.lifecycle?.problem(with: operation) { throw problem }
        let signature = operation.signature
        let values = try arguments.values(for: signature, operation: name, bound: bound, handles: handles)
        guard dependencies.remaining(until: deadline) > 0 else {
            throw CallOptions.noTime(for: name, isRetryable: true)
        }
        guard let id = dependencies.operations.begin(owner: context.owner, progress: options.onProgress) else {
            throw OperationTable.isFull
        }
        let trace = TraceContext.current.during(id, by: deadline)
        services.callBegins(trace)
        defer { services.callEnds(id) }
        var message = MessageWriter()
        message.put(id)
        message.put(name)
        message.put(deadline)
        let names = signature.parameters.filter { $0.direction == .in }.map(\.name)
        let inputs = Array(zip(names, values))
        message.put(inputs) { message, input in
            message.put(input.0)
            input.1.put(to: &message)
        }
        start(.call, id, name, isRepeatable: operation.isRepeatable, trace, message.bytes)
        let function = PluginFunction(
            operation.name,
            symbol: operation.symbol,
            isForeign: operation.foreign != nil
        )
        let payload = try await outcome(of: id, function, by: deadline).get()
        return try result(payload, of: name, signature)
    }

    /// Sends a call that has begun, and fails it if it cannot be sent.
    private func start(
        _ kind: MessageKind,
        _ id: UInt64,
        _ name: String,
        isRepeatable: Bool,
        _ trace: TraceContext,
        _ payload: [UInt8]
    ) {
        guard payload.count <= FrameHeader.limit else {
            let limit = "\(FrameHeader.limit >> 20) MiB"
            let error = ConnectorError(.tooLarge, "\(name): the arguments have more than \(limit) together")
            dependencies.operations.complete(id, owner: context.owner, .failure(error))
            return
        }
        let number = state.withLock { state -> UInt32? in
            guard !state.isOver else { return nil }
            let isPhase = kind == .begin
            state.pending[id] = Pending(
                name: name,
                isPhase: isPhase,
                isRepeatable: isRepeatable,
                message: nil,
                trace: trace
            )
            if isPhase { state.inside[id] = PluginFunction(name) }
            return state.number
        }
        if let number {
            let message = runner.send(kind, instance: number, payload)
            // An ending runner takes no more messages, but will still fail everything pending with the reason.
            if message != nil || !runner.isAlive {
                state.withLock { state in
                    state.pending[id]?.message = message ?? .max
                    if kind == .begin { state.lifeCycleMessage = message ?? .max }
                }
                return
            }
        }
        state.withLock { ($0.pending[id], $0.inside[id]) = (nil, nil) }
        dependencies.operations.complete(id, owner: context.owner, .failure(notSent(name)))
    }

    /// Awaits the outcome of a call.
    private func outcome(of id: UInt64, _ function: PluginFunction, by deadline: UInt64) async -> OperationTable.Outcome
    {
        let operations = dependencies.operations
        defer { forget(id) }
        if let early = operations.takeOutcome(of: id) { return early }
        let wait = dependencies.remaining(until: deadline)
        let timer = dependencies.clock.schedule(after: wait) { [self] in
            atDeadline(deadline, of: id, function, after: wait)
        }
        defer { dependencies.clock.cancel(timer) }
        return await withTaskCancellationHandler {
            await operations.awaitOutcome(of: id)
        } onCancel: {
            let mayRun = stage(of: id).mayRun
            let message = state.withLock { $0.pending[id]?.message }
            let error = ConnectorError(.cancelled, "\(function.name) was cancelled")
            guard operations.giveUp(id, owner: context.owner, error) else { return }
            if mayRun {
                remains(function, of: id)
                watchReturn(of: id, function, sentAs: message, by: deadline)
            }
            sendCancellation(of: id)
        }
    }

    /// Checks at the deadline of a cancelled call that its function has returned.
    ///
    /// - Parameter message: The number of the message that carried the call: before the runner takes it, nothing runs.
    private func watchReturn(
        of id: UInt64,
        _ function: PluginFunction,
        sentAs message: UInt64?,
        by deadline: UInt64
    ) {
        guard deadline != .max else { return }
        let clock = dependencies.clock
        let rest = max(dependencies.remaining(until: deadline), MissedDeadline.leastWait)
        // A function runs no faster for a clock that does.
        _ = clock.schedule(after: clock.duration(ofSystemTime: rest)) { [weak self] in
            guard let self, Self.sending(of: message, taken: runner.taken) == .yes else { return }
            checkReturn(of: id, function)
        }
    }

    /// Gives a call up at its deadline, on the clock's thread.
    private func atDeadline(_ deadline: UInt64, of id: UInt64, _ function: PluginFunction, after wait: UInt64) {
        let isTaken = hasTaken(id)
        let (line, mayRun) = stage(of: id)
        // What has not been taken by now is not made: its deadline has passed.
        let isInside = mayRun && isTaken
        let overdue: MissedDeadline =
            switch line {
            case .turn: .queueing(of: function.name)
            case .thread: .beginning(of: function.name)
            case nil where !isTaken: .arriving(of: function.name)
            case nil where isInside: .returning(from: function, of: plugin, on: .runner)
            case nil: lateCompletion(of: id, function.name, by: deadline, after: wait)
            }
        let isFast = dependencies.clock.systemTime(of: wait) < wait
        let error = (isFast ? overdue.onFastClock : overdue).error(after: wait)
        guard dependencies.operations.giveUp(id, owner: context.owner, error) else { return }
        if isInside { remains(function, of: id) }
        cancel(id) {}
        guard isInside else { return }
        // A function runs no faster for a clock that does.
        let patience = dependencies.clock.duration(ofSystemTime: max(wait, MissedDeadline.leastWait))
        // A call that waited may have been entered just now: the runner says in time if it was not.
        let rest = line == nil ? patience - min(wait, patience) : dependencies.clock.duration(ofSystemTime: Self.grace)
        if rest > 0 {
            _ = dependencies.clock.schedule(after: rest) { [self] in checkReturn(of: id, function) }
        } else {
            checkReturn(of: id, function)
        }
    }

    /// Describes an operation that has not completed by its deadline, and reports a callback that has held it up the whole time.
    private func lateCompletion(
        of id: UInt64,
        _ name: String,
        by deadline: UInt64,
        after wait: UInt64
    ) -> MissedDeadline {
        let now = dependencies.clock.now()
        let since = state.withLock(\.callbackSince)
        guard wait >= MissedDeadline.leastWait, let since, since < now - min(now, wait) else {
            return .completion(
                of: name,
                awaiting: pendingWork(for: id, during: deadline - min(wait, deadline)...deadline)
            )
        }
        // Logging must not block the clock's thread.
        dependencies.cancelThreads.run { [self] in
            context.overran("\(PluginFunction.callback) has held up \(name) until its deadline")
        }
        return .heldUp(name)
    }

    /// Reports a function that still runs after the deadline of its call as misbehaviour, on the clock's thread; a foreign one may.
    private func checkReturn(of id: UInt64, _ function: PluginFunction) {
        let isInside = state.withLock { state in
            state.inside[id]?.isOverdue = true
            return state.inside[id] != nil
        }
        guard isInside, runner.isAlive else { return }
        // Logging must not block the clock's thread.
        dependencies.cancelThreads.run { [self] in
            if !function.isForeign {
                context.overran("\(function.name) holds a thread of its runner past the deadline of its call")
            }
            checkExhaustion()
        }
    }

    /// How many functions that do not return exhaust the instance: one on each of its threads for calls by name, or the one that has the
    /// turn of a serial plugin.
    private var exhaustingCount: Int { manifest.thread == .serial ? 1 : CallThreads.limit }

    /// Gives functions that exhaust the instance the time of a call without a deadline of its own to return, and then replaces it.
    private func checkExhaustion() {
        let overdue = state.withLock { $0.inside.filter { $0.value.isOverdue } }
        guard overdue.count >= exhaustingCount else { return }
        let clock = dependencies.clock
        let patience = clock.duration(ofSystemTime: CallOptions().timeoutNanoseconds)
        _ = clock.schedule(after: patience) { [weak self] in
            guard let self else { return }
            dependencies.cancelThreads.run { [self] in endIfExhausted(by: overdue) }
        }
    }

    /// Ends the runner of an exhausted instance, so that its gate opens in another one. A runner that carries other connectors goes on: the
    /// gate leaves the instance there.
    ///
    /// - Parameter overdue: The functions that exhausted it, by their calls. Later ones do not count: a slow plugin returns from each.
    private func endIfExhausted(by overdue: [UInt64: PluginFunction]) {
        let lost = state.withLock { state in overdue.filter { state.inside[$0.key] != nil } }
        guard lost.count >= exhaustingCount, let function = lost.values.first else { return }
        let error = exhaustion(by: function)
        let number = state.withLock(\.number)
        if runner.carriesOnly(number) { return runner.stop(error.message) }
        let isFirst = state.withLock { state in
            defer { state.isLost = true }
            return !state.isLost && !state.isOver && !state.isDisposed
        }
        if isFirst { onLoss(error) }
    }

    /// Why the instance takes no further call by name.
    private func exhaustion(by function: PluginFunction) -> ConnectorError {
        let isSerial = manifest.thread == .serial
        return ConnectorError(
            .unavailable,
            isSerial
                ? "\(function) holds the turn of the serial plugin and does not return"
                : CallThreads.exhausted(CallThreads.limit, by: function).message,
            fix: function.isForeign
                ? "increase the timeouts of calls, or make fewer of them at once"
                : "fix the plugin \(plugin): its functions must not block",
            isRetryable: true
        )
    }

    /// What a pending call waits for in the runner, as far as is known, and whether its function may run before the runner learns that the
    /// host gives the call up.
    private func stage(of id: UInt64) -> (wait: CallWait?, mayRun: Bool) {
        state.withLock { state in
            guard let call = state.pending[id] else { return (nil, false) }
            return (call.wait, !call.hasReturned)
        }
    }

    /// Whether the runner has taken the message of a pending call or phase, or the last one of the instance's life cycle.
    package func hasTaken(_ operation: UInt64?) -> Bool {
        let message = state.withLock { state -> UInt64? in
            guard let operation else { return state.lifeCycleMessage }
            return state.pending[operation]?.message
        }
        return Self.sending(of: message, taken: runner.taken) != .no
    }

    /// Notes that the function of a call may run on after the host has given the call up. The runner, which is told of that next, says when
    /// the function has returned, or at once that it will not be entered.
    private func remains(_ function: PluginFunction, of id: UInt64) {
        state.withLock { state in
            if !state.isOver { state.inside[id] = function }
        }
    }

    /// The parameters that a foreign library's `open` operation binds; only the runner knows their values.
    private var bound: [String: CallValue] {
        manifest.boundNames.reduce(into: [:]) { $0[$1] = CallValue.none }
    }

    /// Checks and decodes the answer of an operation.
    private func result(_ payload: [UInt8], of name: String, _ signature: Signature) throws(ConnectorError)
        -> CallResult
    {
        var types: [String: ValueType] = [:]
        for output in signature.parameters where output.direction == .out { types[output.name] = output.type }
        for result in signature.results { types[result.name ?? ""] = result.type }
        do throws(ConnectorError) {
            var message = MessageReader(payload)
            let outputs = try message.list(limit: types.count) { message throws(ConnectorError) -> CallOutput in
                let name = try message.text()
                let value = try CallValue(&message)
                guard let type = types.removeValue(forKey: name), value.fits(type) else {
                    throw MessageReader.malformed
                }
                return (name, type, value)
            }
            guard types.isEmpty else { throw MessageReader.malformed }
            return CallResult(outputs: outputs, handles: handles)
        } catch {
            throw ConnectorError(.misbehaved, "the runner's answer to \(name) does not fit \(signature)")
        }
    }

    /// Reports to the runner that an operation was given up, and checks that the runner still answers: it may hang.
    package func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void) {
        sendCancellation(of: operation)
        checkPulse()
        dependencies.cancelThreads.run(next)
    }

    /// Tells the runner that an operation was given up.
    private func sendCancellation(of operation: UInt64) {
        services.cancelCalls(during: operation)
        var message = MessageWriter()
        message.put(operation)
        let number = state.withLock(\.number)
        runner.send(.cancel, instance: number, message.bytes)
    }

    /// Checks, after something was late, that the runner still answers, and ends it if it does not.
    func checkPulse() {
        let clock = dependencies.clock
        runner.checkPulse(on: clock, patience: clock.duration(ofSystemTime: Self.grace))
    }

    /// How long a runner may take to prove that it still answers, in nanoseconds.
    private static let grace: UInt64 = 2_000_000_000
}

extension CallDependencies {
    /// The time until a deadline, in nanoseconds.
    func remaining(until deadline: UInt64) -> UInt64 {
        guard deadline != .max else { return .max }
        let now = clock.now()
        return deadline > now ? deadline - now : 0
    }
}
