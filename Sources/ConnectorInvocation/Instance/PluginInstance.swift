// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorLoading
package import ConnectorManifest
package import ConnectorOneShot
internal import ConnectorPlatform
internal import Synchronization

/// One instance of a plugin in this process, and the life that `connector/plugin.h` gives it.
///
/// The functions of that life run plugin code on the calling thread: they are called on ``WorkerThreads``, one at a time. Its owner
/// disposes of it when no caller of an operation is inside any more, which the ``Door`` tells.
///
/// `@unchecked Sendable`: the stored pointers are constant after `init`. The plugin's table is static, by its contract; the
/// instance belongs to the plugin, which takes it from any thread, by the thread classes of the ABI.
@safe
package final class PluginInstance: @unchecked Sendable {
    /// The image that it is an instance of.
    package var plugin: Plugin { resolved.plugin }
    private let resolved: PluginOperations
    /// What the plugin calls back.
    package let context: HostContext
    /// What the host lends it.
    package let services: any InstanceServices
    /// Passed to every operation.
    package let pointer: UnsafeMutableRawPointer?

    /// Lets calls in one at a time; nil unless the plugin asks for that.
    package let turn: Turn?
    /// The addresses that the plugin gave out.
    package let handles = HandleTable()

    package let environment: CallEnvironment
    /// Where calls are pending.
    package var operations: OperationTable { environment.operations }
    private let foreign: Mutex<ForeignState>
    private let life = Mutex(Life())
    private let destroyed = OneShot<Void>()

    /// What a foreign library's gate is opened with, and what that gave.
    private struct ForeignState {
        var configuration: JSONObject
        var bound: [String: CallValue] = [:]
    }

    /// How many steps of the host are inside the plugin, and whether there will be more.
    private struct Life {
        var inside = 0
        var isEnding = false
    }

    /// Runs the plugin's `create`; a foreign library has none, and no instances either.
    package init(
        of plugin: Plugin,
        configuration: [UInt8],
        environment: CallEnvironment,
        context: HostContext,
        services: any InstanceServices
    ) throws(ConnectorError) {
        var pointer: UnsafeMutableRawPointer?
        if let lifecycle = plugin.lifecycle {
            var failure: ErrorObject.Failure?
            unsafe ErrorObject.with { error in
                let status = unsafe configuration.withUnsafeBytes { bytes in
                    guard let text = bytes.baseAddress else { return Int32(CONNECTOR_INVALID) }
                    return unsafe lifecycle.create(
                        context.table,
                        text.assumingMemoryBound(to: CChar.self),
                        UInt64(bytes.count),
                        &pointer,
                        error
                    )
                }
                guard status != Int32(CONNECTOR_OK) else { return }
                failure = unsafe ErrorObject.read(error, status, "creating the plugin's instance")
            }
            if let failure { throw failure.error }
        }
        self.resolved = PluginOperations(of: plugin)
        self.turn = plugin.manifest.thread == .serial ? Turn() : nil
        self.context = context
        self.services = services
        self.environment = environment
        let object = plugin.lifecycle == nil ? (try? JSONValue(parsing: configuration))?.object : nil
        self.foreign = Mutex(ForeignState(configuration: object ?? JSONObject()))
        unsafe self.pointer = pointer
    }

    /// Starts a step; its operation ends when the plugin completes it, or here if the plugin refuses or has nothing to do.
    package func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {
        guard enter() else {
            let error = ConnectorError(.notOpen, "the gate is closing")
            operations.complete(operation, owner: context.owner, .failure(error))
            return
        }
        defer { leave() }
        let function =
            switch phase {
            case .open: unsafe plugin.lifecycle?.open
            case .probe: unsafe plugin.lifecycle?.probe
            case .close: unsafe plugin.lifecycle?.close
            }
        guard let function = unsafe function else {
            operations.complete(operation, owner: context.owner, foreignStep(phase))
            return
        }
        var call = connector_call(operation: operation, deadline: deadline)
        unsafe ErrorObject.with { error in
            let status = unsafe function(pointer, &call, error)
            if status != Int32(CONNECTOR_OK) { unsafe refuse(operation, status, error, phase.rawValue) }
        }
    }

    /// Runs the operation that opens or closes a foreign library's gate, if it has one.
    private func foreignStep(_ phase: InstancePhase) -> OperationTable.Outcome {
        let lifecycle = plugin.manifest.lifecycle
        guard let name = phase == .open ? lifecycle?.open : phase == .close ? lifecycle?.close : nil else {
            return .success([])
        }
        do throws(ConnectorError) {
            let operation = try operation(named: name)
            let signature = operation.operation.signature
            let state = foreign.withLock(\.self)
            let given = signature.parameters.compactMap { parameter in
                state.configuration[parameter.name].map { (parameter.name, $0) }
            }
            let values = try CallArguments(JSONObject(given)).values(
                for: signature,
                operation: name,
                bound: state.bound,
                handles: handles
            )
            let outputs = try callForeign(operation, values)
            if phase == .open {
                foreign.withLock { state in
                    for output in outputs where !output.name.isEmpty { state.bound[output.name] = output.value }
                }
            }
            return .success([])
        } catch {
            return .failure(error)
        }
    }

    /// What opening a foreign library gave: it fills the parameters of these names.
    package var bound: [String: CallValue] { plugin.lifecycle == nil ? foreign.withLock(\.bound) : [:] }

    /// An operation of the plugin, ready to be called.
    package func operation(named name: String) throws(ConnectorError) -> ResolvedOperation {
        try resolved.operation(named: name)
    }

    /// The function of an operation, whose signature the caller knows.
    package func function(of name: String) throws(ConnectorError) -> UnsafeMutableRawPointer {
        unsafe try resolved.function(of: name)
    }

    /// Whether it stands for a library that knows nothing of connectors.
    package var isForeign: Bool { plugin.lifecycle == nil }

    /// Whether the plugin can prove that the outside world is still there.
    package var canProbe: Bool { unsafe plugin.lifecycle?.probe != nil }

    /// Whether anything is to be done before it is destroyed.
    package var canClose: Bool { unsafe plugin.lifecycle?.close != nil || plugin.manifest.lifecycle?.close != nil }

    /// Tells the plugin that nobody waits for a call any more. On a worker thread.
    package func cancel(_ operation: UInt64) {
        guard enter() else { return }
        defer { leave() }
        unsafe plugin.lifecycle?.cancel?(pointer, operation)
    }

    // MARK: The end

    /// Runs the plugin's `destroy` once no step of the host is inside the plugin and no callback into it is under way.
    ///
    /// Returns at once. A function that never returns keeps the instance for ever.
    ///
    /// - Returns: What arrives when `destroy` has returned.
    @discardableResult
    package func dispose() -> OneShot<Void> {
        let isLast = life.withLock { life in
            guard !life.isEnding else { return false }
            life.isEnding = true
            return life.inside == 0
        }
        if isLast { destroy() }
        return destroyed
    }

    /// Counts a step of the host in, to be counted out by ``leave()``; false once the instance is on its way out.
    private func enter() -> Bool {
        life.withLock { life in
            guard !life.isEnding else { return false }
            life.inside += 1
            return true
        }
    }

    private func leave() {
        let isLast = life.withLock { life in
            life.inside -= 1
            return life.isEnding && life.inside == 0
        }
        if isLast { destroy() }
    }

    /// Runs the plugin's `destroy` when its callbacks have returned.
    private func destroy() {
        guard let quiet = services.stop() else { return environment.lifecycle.run { self.destroyNow() } }
        Task(executorPreference: environment.lifecycle) { [self] in
            await quiet.wait()
            environment.lifecycle.run { self.destroyNow() }
        }
    }

    /// On a worker thread.
    private func destroyNow() {
        context.withdraw()
        unsafe plugin.lifecycle?.destroy(pointer)
        services.invalidate()
        context.giveBack()
        destroyed.send()
    }
}
