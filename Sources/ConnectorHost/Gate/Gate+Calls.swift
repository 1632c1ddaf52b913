// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorManifest

extension Gate {
    /// Calls an operation of the gate's plugin.
    ///
    /// Everything that can be wrong with the call is found before any plugin code runs.
    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions
    ) async throws(ConnectorError) -> CallResult {
        do throws(ConnectorError) {
            let instance = try usableInstance()
            let operation = try instance.operation(named: name)
            let values = try arguments.values(
                for: operation.operation.signature,
                operation: name,
                bound: instance.bound,
                handles: instance.handles
            )
            let isSerial = instance.plugin.manifest.thread == .serial
            if isSerial { await instance.turn.begin() }
            defer { if isSerial { instance.turn.end() } }
            guard instance.enter() else { throw notOpen() }
            defer { instance.leave() }
            let outputs = try await perform(operation, values, on: instance, options)
            return CallResult(outputs: outputs, gate: plan.path, handles: instance.handles)
        } catch {
            throw described(error)
        }
    }

    private func perform(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        on instance: PluginInstance,
        _ options: CallOptions
    ) async throws(ConnectorError) -> [(name: String, type: ValueType, value: CallValue)] {
        if operation.foreign != nil {
            return try await environment.workers.result { () throws(ConnectorError) in
                try instance.callForeign(operation, values)
            }
        }
        guard operation.operation.signature.isAsync else { return try instance.callNow(operation, values) }
        guard let id = environment.operations.begin(owner: instance.context.owner, progress: options.onProgress) else {
            throw ConnectorError(.unavailable, "\(OperationTable.capacity) calls are pending; no more fit")
        }
        let deadline = environment.deadline(after: options.timeout)
        instance.start(operation, values, id: id, deadline: deadline)
        let outcome = await end(of: id, operation.operation.name, on: instance, deadline: deadline)
        let text = try outcome.get()
        return operation.operation.signature.results.map { ("", $0.type, .bytes(text)) }
    }

    /// Waits for a call that was started: for its completion, its deadline, or the cancellation of the caller's task.
    func end(
        of id: UInt64,
        _ name: String,
        on instance: PluginInstance,
        deadline: UInt64
    ) async -> OperationTable.Outcome {
        let operations = environment.operations
        if let outcome = operations.endIfNow(of: id) { return outcome }
        let owner = instance.context.owner
        let timer = environment.expire(name, id, owner: owner, deadline: deadline) { instance.cancel($0) }
        defer { environment.clock.cancel(timer) }
        return await withTaskCancellationHandler {
            await operations.end(of: id)
        } onCancel: {
            let error = ConnectorError(.cancelled, "\(name) was cancelled")
            if operations.complete(id, owner: owner, .failure(error)) == .accepted { instance.cancel(id) }
        }
    }

    /// The instance, if calls may pass.
    func usableInstance() throws(ConnectorError) -> PluginInstance {
        let (instance, state, error) = usable
        guard let instance, state.isUsable else {
            throw ConnectorError(
                .notOpen,
                "the gate is \(state.rawValue)",
                fix: error.map { "it failed: \($0.message)" } ?? "open the host first",
                isRetryable: true
            )
        }
        return instance
    }

    private func notOpen() -> ConnectorError {
        ConnectorError(.notOpen, "the gate is closing", isRetryable: true)
    }
}
