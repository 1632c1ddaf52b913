// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase
package import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform

extension PluginInstance: Channel {
    /// This instance.
    package var instance: PluginInstance? { self }

    /// This instance, whose functions are the plugin's.
    package func forwardingInstance() -> PluginInstance { self }

    /// The loaded bytes; nil for a plugin that the application links.
    package var content: ImageContent? { plugin.content }

    /// Calls an operation on one of the instance's threads, which its function may block.
    ///
    /// The caller waits until the deadline at most. Nothing can stop a function that is still running then: its thread is lost
    /// until it returns, which is reported as misbehaviour, and the gate remains occupied. A call that is given up before a thread
    /// is free is never made. A function that the manifest declares prompt runs on the caller's thread, unless another call does so
    /// already, or this one keeps its timeout. A stand-in's always does, before the timer of the deadline exists: a test that moves
    /// the clock to that timer would otherwise race with the function.
    package func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult {
        let operation = try operation(named: name)
        if let problem = plugin.manifest.lifecycle?.problem(with: operation.operation) { throw problem }
        let signature = operation.operation.signature
        let values = try arguments.values(for: signature, operation: name, bound: bound, handles: handles)
        let isPrompt = !isStandIn && operation.isPrompt && !options.keepsTimeout && enterPromptly()
        let isInPlace = isStandIn || isPrompt
        if !isInPlace, let exhaustion = threads.exhaustion { throw exhaustion }
        let function = PluginFunction(
            operation.operation.name,
            symbol: operation.operation.symbol,
            isForeign: operation.foreign != nil
        )
        let inFlight = CallInFlight(function, threads, lasts: signature.isAsync, admission)
        guard let id = operations.begin(owner: context.owner, progress: options.onProgress) else {
            inFlight.functionLeaves()
            if isPrompt { leavePromptly() }
            throw OperationTable.isFull
        }
        let trace = TraceContext.current.during(id, by: deadline)
        services.callBegins(trace)
        defer { services.callEnds(id) }
        if isInPlace {
            let start = dependencies.clock.now()
            trace.run { make(operation, values, id: id, deadline: deadline, at: start, isInPlace: true, inFlight) }
            if isPrompt {
                judge(operation, took: dependencies.clock.now() - start)
                leavePromptly()
            }
        } else {
            let job: WorkerThreads.Job = { [self] in
                let start = dependencies.clock.now()
                trace.run { make(operation, values, id: id, deadline: deadline, at: start, isInPlace: false, inFlight) }
                if operation.probation.isOn { countOnProbation(operation, since: start) }
            }
            threads.run(job, waits: { [services] isWaiting in services.waitsForThread(id, isWaiting) })
        }
        defer { if signature.isAsync { inFlight.leave() } }
        let text = try await awaitOutcome(of: id, inFlight, by: deadline).get()
        guard !signature.isAsync else {
            return CallResult(outputs: signature.results.map { ("", $0.type, .bytes(text)) }, handles: handles)
        }
        var result = CallResult(outputs: inFlight.outputs, handles: handles)
        result.isPrompt = isPrompt && operation.answersAtOnce
        return result
    }

    /// Makes a call if it is still pending and has time left.
    ///
    /// - Parameter isInPlace: Whether this is the caller's thread, and not one of the instance's. A function that ends it ends the caller,
    ///   too, so nothing is prepared for that: it would cost a prompt call a quarter of its time.
    private func make(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        id: UInt64,
        deadline: UInt64,
        at now: UInt64,
        isInPlace: Bool,
        _ inFlight: CallInFlight
    ) {
        // After the completion of a call that the function has answered, which says as much.
        defer { services.functionReturned(from: id) }
        guard now < deadline else {
            let error = CallOptions.noTime(for: operation.operation.name, isRetryable: true)
            operations.complete(id, owner: context.owner, .failure(error))
            return inFlight.functionLeaves()
        }
        guard inFlight.enter(if: { operations.isPending(id) }) else { return inFlight.functionLeaves() }
        var outcome: OperationTable.Outcome?
        func callFunction() {
            guard !operation.operation.signature.isAsync else {
                return start(operation, values, id: id, deadline: deadline)
            }
            do throws(ConnectorError) {
                inFlight.outputs = try callNow(operation, values)
                outcome = .success([])
            } catch {
                outcome = .failure(error)
            }
        }
        if isInPlace {
            callFunction()
        } else {
            HostThread.run(callFunction) { [self] hasReturned in
                if !hasReturned { endedThread(in: inFlight, of: id) }
            }
        }
        inFlight.functionReturns()
        // Complete before leaving: an instance without callers inside gives up what is still pending.
        if let outcome { operations.complete(id, owner: context.owner, outcome) }
        inFlight.leave()
    }

    /// Ends a call whose function has ended its thread, in place of ``make(_:_:id:deadline:at:isInPlace:_:)``.
    private func endedThread(in inFlight: CallInFlight, of id: UInt64) {
        let error = inFlight.function.endedThreadError
        inFlight.functionReturns()
        operations.complete(id, owner: context.owner, .failure(error))
        services.functionReturned(from: id)
        inFlight.leave()
        context.misbehaved(error.message)
    }

    /// Awaits the outcome of a call on one of the instance's threads.
    private func awaitOutcome(of id: UInt64, _ inFlight: CallInFlight, by deadline: UInt64) async
        -> OperationTable.Outcome
    {
        let early = operations.takeOutcome(of: id)
        // A function that has completed its call may still block its thread.
        if let early, inFlight.stage != .inside { return early }
        let clock = dependencies.clock
        let now = clock.now()
        let wait = deadline > now ? deadline - now : 0
        let timer = clock.schedule(after: wait.saturatingAdding(dependencies.grace)) { [self] in
            atDeadline(deadline, of: id, inFlight, after: wait)
        }
        let outcome: OperationTable.Outcome
        if let early {
            outcome = early
        } else {
            outcome = await withTaskCancellationHandler {
                await operations.awaitOutcome(of: id)
            } onCancel: {
                let error = ConnectorError(.cancelled, "\(inFlight.function.name) was cancelled")
                _ = giveUp(id, error)
            }
        }
        // While the function is running, the timer is still needed to detect that its thread is lost.
        inFlight.stopWatching { clock.cancel(timer) }
        return outcome
    }

    /// Gives a call up at its deadline, on the clock's thread.
    private func atDeadline(_ deadline: UInt64, of id: UInt64, _ inFlight: CallInFlight, after wait: UInt64) {
        let elapsed = wait.saturatingAdding(dependencies.grace)
        let overdue: MissedDeadline =
            switch inFlight.stage {
            case .waiting: .beginning(of: inFlight.function.name)
            case .inside: lateReturn(from: inFlight.function)
            case .over: lateCompletion(of: id, inFlight.function.name, by: deadline, after: elapsed)
            }
        // A function runs no faster for a clock that does.
        let patience = dependencies.clock.duration(ofSystemTime: max(elapsed, MissedDeadline.leastWait))
        let isFast = dependencies.clock.systemTime(of: wait) < wait
        _ = giveUp(id, (isFast ? overdue.onFastClock : overdue).error(after: wait))
        guard elapsed < patience else { return checkReturn(of: inFlight) }
        _ = dependencies.clock.schedule(after: patience - elapsed) { [self] in checkReturn(of: inFlight) }
    }

    /// Reports a function that still runs after the deadline of its call as misbehaviour, on the clock's thread; a foreign one may.
    private func checkReturn(of inFlight: CallInFlight) {
        // A runner's host has reported it at the deadline.
        guard inFlight.isLostAtDeadline(), dependencies.grace == 0, !inFlight.function.isForeign else { return }
        // Logging must not block the clock's thread.
        dependencies.cancelThreads.run { [self] in
            context.overran("\(inFlight.function.name) holds a thread of the host past the deadline of its call")
        }
    }

    /// Describes a function that has not returned by its deadline.
    private func lateReturn(from function: PluginFunction) -> MissedDeadline {
        .returning(from: function, of: "\(plugin.manifest.id) \(plugin.manifest.version)")
    }

    /// Describes an operation that has not completed by its deadline, and reports a callback that has held it up the whole time.
    private func lateCompletion(
        of id: UInt64,
        _ name: String,
        by deadline: UInt64,
        after wait: UInt64
    ) -> MissedDeadline {
        let now = dependencies.clock.now()
        guard wait >= MissedDeadline.leastWait, services.hasCallbackInside(since: now - min(now, wait)) else {
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

    /// What is pending that may complete an operation, as the services know; a stand-in delays its answers itself.
    package func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork {
        isStandIn ? .other : services.pendingWork(for: operation, during: span)
    }

    // MARK: Asynchronous calls

    /// Begins a call and starts the plugin's function.
    ///
    /// - Parameters:
    ///   - progress: Receives the call's progress, on the plugin's thread.
    ///   - start: Calls the plugin's function with the id of the operation to complete.
    /// - Returns: The operation's id, for one ``awaitOutcome(of:_:by:)``.
    @inline(__always)
    package func start(
        _ progress: OperationTable.Observer?,
        _ start: (UInt64) -> Void
    ) throws(ConnectorError) -> UInt64 {
        guard let id = operations.begin(owner: context.owner, progress: progress) else { throw OperationTable.isFull }
        start(id)
        return id
    }

    /// Awaits the outcome of a started call: its completion, its deadline, or cancellation of the caller's task.
    ///
    /// On a hot path, try ``OperationTable/takeOutcome(of:)`` first to skip the async path.
    package func awaitOutcome(of id: UInt64, _ name: String, by deadline: UInt64) async -> OperationTable.Outcome {
        let operations = operations
        if let outcome = operations.takeOutcome(of: id) { return outcome }
        let owner = context.owner
        let start = dependencies.clock.now()
        let timer = dependencies.giveUpAtDeadline(
            { [self] id in lateCompletion(of: id, name, by: deadline, after: deadline - min(start, deadline)) },
            id,
            owner: owner,
            deadline: deadline
        ) { [self] id in cancel(id) }
        defer { dependencies.clock.cancel(timer) }
        return await withTaskCancellationHandler {
            await operations.awaitOutcome(of: id)
        } onCancel: {
            let error = ConnectorError(.cancelled, "\(name) was cancelled")
            _ = giveUp(id, error)
        }
    }

    // MARK: Calling the plugin

    /// Calls a synchronous operation on this thread, which it may block.
    func callNow(_ operation: ResolvedOperation, _ values: [CallValue]) throws(ConnectorError) -> [CallOutput] {
        if let convention = operation.foreign { return try callForeign(operation, values, convention) }
        // This includes taking the outputs, because the `release` of memory that the plugin lends is plugin code.
        let mark = unsafe PluginCode.begin(operation.function)
        defer { PluginCode.end(mark) }
        return try CallFrame.with(operation.layout) { frame throws(ConnectorError) in
            frame.set(values)
            frame.lendBuffers()
            var error = ErrorObject.empty
            let failure = unsafe withUnsafeMutablePointer(to: &error) { error -> ErrorObject.Failure? in
                unsafe frame.setContext(operation.layout, instance: pointer, call: nil, error: error)
                let status = unsafe Int32(truncatingIfNeeded: frame.call(operation.function))
                return status == 0 ? nil : unsafe frame.readFailure(error, status, of: operation.operation.name)
            }
            if let failure {
                frame.resetAnswers(hasFailed: true)
                throw failure.error
            }
            do throws(ConnectorError) {
                return try frame.takeAnswers()
            } catch {
                // Not an error that the plugin returned.
                if error.code == .misbehaved { context.misbehaved(error.message) }
                throw error
            }
        }
    }

    /// Starts an asynchronous operation, and completes it with an error if the plugin refuses it.
    package func start(_ operation: ResolvedOperation, _ values: [CallValue], id: UInt64, deadline: UInt64) {
        var call = connector_call(operation: id, deadline: deadline)
        var error = ErrorObject.empty
        let mark = unsafe PluginCode.begin(operation.function)
        let status =
            if operation.takesTexts {
                unsafe TextOperation.call(
                    operation.function,
                    instance: pointer,
                    call: &call,
                    texts: values,
                    error: &error
                )
            } else {
                unsafe startDescribed(operation, values, &call, &error)
            }
        PluginCode.end(mark)
        guard status == Int32(CONNECTOR_OK) else {
            return unsafe refuse(id, status, &error, operation.operation.name)
        }
        cancelAgain(id)
    }

    /// Calls the function of an asynchronous operation by libffi.
    private func startDescribed(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        _ call: UnsafePointer<connector_call>,
        _ error: UnsafeMutablePointer<connector_error>
    ) -> Int32 {
        CallFrame.with(operation.layout) { frame in
            frame.set(values)
            unsafe frame.setContext(operation.layout, instance: pointer, call: call, error: error)
            return unsafe Int32(truncatingIfNeeded: frame.call(operation.function))
        }
    }

    /// Completes a call that the plugin refused.
    package func refuse(_ id: UInt64, _ status: Int32, _ error: UnsafePointer<connector_error>, _ name: String) {
        let failure = unsafe ErrorObject.read(error, status, name).error
        guard operations.complete(id, owner: context.owner, .failure(failure)) == .unknown else { return }
        context.misbehaved("refused \(name) after completing it")
    }
}

extension CallFrame {
    /// Stores what a plugin's function takes besides its parameters.
    fileprivate func setContext(
        _ layout: CallLayout,
        instance: UnsafeMutableRawPointer?,
        call: UnsafePointer<connector_call>?,
        error: UnsafeMutablePointer<connector_error>
    ) {
        if let argument = layout.shape.instanceArgument { unsafe setPointer(instance, at: argument) }
        if let argument = layout.callArgument { unsafe setPointer(call, at: argument) }
        if let argument = layout.shape.errorArgument { unsafe setPointer(error, at: argument) }
    }
}
