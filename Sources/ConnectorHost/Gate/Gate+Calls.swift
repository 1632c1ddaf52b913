// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorManifest
internal import Synchronization

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
            if let objection = instance.plugin.manifest.lifecycle?.objection(to: operation.operation) {
                throw objection
            }
            let values = try arguments.values(
                for: operation.operation.signature,
                operation: name,
                bound: instance.bound,
                handles: instance.handles
            )
            let deadline = environment.deadline(after: options.timeoutNanoseconds)
            let admission = try await instance.admit(name, by: deadline)
            let outputs: [CallOutput]
            if operation.foreign != nil {
                outputs = try await performElsewhere(operation, values, on: instance, admission, deadline: deadline)
            } else {
                defer { admission.end() }
                outputs = try await perform(operation, values, on: instance, options, deadline: deadline)
            }
            return CallResult(outputs: outputs, gate: plan.path, handles: instance.handles)
        } catch {
            throw described(error)
        }
    }

    /// Calls on this thread, and waits for the completion if there is to be one.
    private func perform(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        on instance: PluginInstance,
        _ options: CallOptions,
        deadline: UInt64
    ) async throws(ConnectorError) -> [CallOutput] {
        guard operation.operation.signature.isAsync else { return try instance.callNow(operation, values) }
        let id = try begin(on: instance, progress: options.onProgress)
        instance.start(operation, values, id: id, deadline: deadline)
        let outcome = await end(of: id, operation.operation.name, on: instance, deadline: deadline)
        let text = try outcome.get()
        return operation.operation.signature.results.map { ("", $0.type, .bytes(text)) }
    }

    /// Calls a foreign function, which may block, on a thread that it may hold.
    ///
    /// The caller waits no longer than to the deadline. The function goes on, since nothing can stop it, and is let out
    /// when it returns.
    private func performElsewhere(
        _ operation: ResolvedOperation,
        _ values: [CallValue],
        on instance: PluginInstance,
        _ admission: Admission,
        deadline: UInt64
    ) async throws(ConnectorError) -> [CallOutput] {
        let answer = ForeignAnswer()
        let id: UInt64
        do throws(ConnectorError) {
            id = try begin(on: instance, progress: nil)
        } catch {
            admission.end()
            throw error
        }
        environment.workers.run { [operations = environment.operations] in
            let owner = instance.context.owner
            do throws(ConnectorError) {
                let outputs = try instance.callForeign(operation, values)
                answer.outputs.withLock { $0 = outputs }
                admission.end()
                operations.complete(id, owner: owner, .success([]))
            } catch {
                admission.end()
                operations.complete(id, owner: owner, .failure(error))
            }
        }
        _ = try await end(of: id, operation.operation.name, on: instance, deadline: deadline).get()
        return answer.outputs.withLock(\.self)
    }

    /// Carries what a foreign function answered from its thread to the caller.
    private final class ForeignAnswer: Sendable {
        let outputs = Mutex<[CallOutput]>([])
    }

    /// Takes on a call that completes later.
    func begin(
        on instance: PluginInstance,
        progress: (@Sendable (JSONValue) -> Void)?
    ) throws(ConnectorError) -> UInt64 {
        if let id = environment.operations.begin(owner: instance.context.owner, progress: progress) { return id }
        throw ConnectorError(.unavailable, "\(OperationTable.capacity) calls are pending; no more fit")
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
        } onCancel: { [workers = environment.workers] in
            let error = ConnectorError(.cancelled, "\(name) was cancelled")
            if operations.giveUp(id, owner: owner, error) { workers.run { instance.cancel(id) } }
        }
    }

    /// Lets an operation in that ``admitNow()`` did not, which may have to wait in line.
    ///
    /// Apart from that, for whoever does not have to wait is not to pay for a function that can.
    ///
    /// - Throws: `not-open`, or that there is no such operation, before it waits; `timed-out` or `cancelled` while it does.
    func admit(_ name: String, by deadline: UInt64) async throws(ConnectorError) -> Admission {
        let instance = try usableInstance()
        _ = try instance.operation(named: name)
        return try await instance.admit(name, by: deadline)
    }

    /// Lets an operation in that ``admitNow()`` did not, as long as its caller is ready to wait.
    func admit(_ name: String, within options: CallOptions) async throws(ConnectorError) -> Admission {
        try await admit(name, by: environment.deadline(after: options.timeoutNanoseconds))
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
}

extension ForeignLifecycle {
    /// Why an application may not call an operation: the host itself does, once.
    func objection(to operation: Operation) -> ConnectorError? {
        guard operation.name == open || operation.name == close else { return nil }
        return ConnectorError(
            .invalid,
            "\(operation.name) is called by the host when the gate \(operation.name == open ? "opens" : "closes")",
            fix: "call another operation of the library"
        )
    }
}
