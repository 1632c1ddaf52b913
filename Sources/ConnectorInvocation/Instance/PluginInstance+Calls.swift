// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorLoading
package import ConnectorManifest
internal import ConnectorPlatform

extension PluginInstance: Channel {
    /// This instance.
    package var instance: PluginInstance? { self }

    /// Calls an operation: on this thread if its function does not block, on a worker thread if it is foreign.
    package func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult {
        let operation = try operation(named: name)
        if let objection = plugin.manifest.lifecycle?.objection(to: operation.operation) { throw objection }
        let signature = operation.operation.signature
        let values = try arguments.values(for: signature, operation: name, bound: bound, handles: handles)
        guard operation.foreign == nil else {
            let outputs = try await callElsewhere(operation, values, by: deadline, admission)
            return CallResult(outputs: outputs, handles: handles)
        }
        defer { extendLifetime(admission) }
        guard signature.isAsync else { return CallResult(outputs: try callNow(operation, values), handles: handles) }
        let text = try await perform(operation, values, options, by: deadline).get()
        return CallResult(outputs: signature.results.map { ("", $0.type, .bytes(text)) }, handles: handles)
    }

    private func perform(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        _ options: CallOptions,
        by deadline: UInt64
    ) async throws(ConnectorError) -> OperationTable.Outcome {
        let id = try start(options.onProgress) { self.start(operation, values, id: $0, deadline: deadline) }
        return await awaitOutcome(of: id, operation.operation.name, by: deadline)
    }

    // MARK: Asynchronous calls

    /// Begins a call and starts the plugin's function.
    ///
    /// - Parameters:
    ///   - progress: Receives its progress, on the plugin's thread.
    ///   - start: Calls the plugin's function with the id of the operation to complete.
    /// - Returns: The operation, for one ``awaitOutcome(of:_:by:)``.
    @inline(__always)
    package func start(
        _ progress: OperationTable.Observer?,
        _ start: (UInt64) -> Void
    ) throws(ConnectorError) -> UInt64 {
        guard let id = operations.begin(owner: context.owner, progress: progress) else { throw OperationTable.isFull }
        start(id)
        return id
    }

    /// Awaits the outcome of a started call: its completion, its deadline, or the cancellation of the caller's task.
    ///
    /// Callers on a hot path try ``OperationTable/takeOutcome(of:)`` first, and skip the async path.
    package func awaitOutcome(of id: UInt64, _ name: String, by deadline: UInt64) async -> OperationTable.Outcome {
        let operations = operations
        if let outcome = operations.takeOutcome(of: id) { return outcome }
        let owner = context.owner
        let timer = environment.giveUpAtDeadline(name, id, owner: owner, deadline: deadline) { self.cancel($0) }
        defer { environment.clock.cancel(timer) }
        return await withTaskCancellationHandler {
            await operations.awaitOutcome(of: id)
        } onCancel: {
            let error = ConnectorError(.cancelled, "\(name) was cancelled")
            if operations.giveUp(id, owner: owner, error) { environment.workers.run { self.cancel(id) } }
        }
    }

    // MARK: One call of the plugin

    /// Calls an operation that answers at once, on this thread.
    package func callNow(
        _ operation: ResolvedOperation,
        _ values: [CallValue]
    ) throws(ConnectorError) -> [CallOutput] {
        try CallFrame.with(operation.interface) { frame throws(ConnectorError) in
            frame.set(values, of: operation.interface)
            frame.lendBuffers()
            var failure: ErrorObject.Failure?
            unsafe ErrorObject.with { error in
                let status = unsafe self.run(operation, frame, call: nil, error: error)
                if status != 0 { failure = unsafe ErrorObject.read(error, status, operation.operation.name) }
            }
            if let failure { throw failure.error }
            return try frame.takeAnswers(of: operation.interface)
        }
    }

    /// Starts an asynchronous operation; completes it here if the plugin refuses.
    package func start(_ operation: ResolvedOperation, _ values: [CallValue], id: UInt64, deadline: UInt64) {
        var call = connector_call(operation: id, deadline: deadline)
        unsafe ErrorObject.with { error in
            let status = unsafe withUnsafePointer(to: &call) { call in
                guard !operation.takesTexts else {
                    return unsafe TextOperation.call(
                        operation.function,
                        instance: pointer,
                        call: call,
                        texts: values,
                        error: error
                    )
                }
                return CallFrame.with(operation.interface) { frame in
                    frame.set(values, of: operation.interface)
                    return unsafe self.run(operation, frame, call: call, error: error)
                }
            }
            if status != Int32(CONNECTOR_OK) { unsafe refuse(id, status, error, operation.operation.name) }
        }
    }

    /// Completes a call that the plugin refused.
    package func refuse(_ id: UInt64, _ status: Int32, _ error: UnsafePointer<connector_error>, _ name: String) {
        let failure = unsafe ConnectorError(status: status, error: error.pointee, attempting: name)
        guard operations.complete(id, owner: context.owner, .failure(failure)) == .unknown else { return }
        context.misbehaved("refused \(name), which it had completed already")
    }

    private func run(
        _ operation: ResolvedOperation,
        _ frame: borrowing CallFrame,
        call: UnsafePointer<connector_call>?,
        error: UnsafeMutablePointer<connector_error>
    ) -> Int32 {
        let places = unsafe operation.interface.plan.pointee.frame
        if let place = places.instance { unsafe frame.setPointer(pointer, at: place) }
        if let place = places.call { unsafe frame.setPointer(call, at: place) }
        if let place = places.error { unsafe frame.setPointer(error, at: place) }
        return unsafe Int32(truncatingIfNeeded: frame.call(operation.function))
    }
}
