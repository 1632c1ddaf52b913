// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorManifest
internal import Synchronization

/// One instance of a plugin, and the life that `connector/plugin.h` gives it.
///
/// The functions here run plugin code on the calling thread: the gate calls them on ``WorkerThreads``, one at a time.
///
/// `@unchecked Sendable`: the stored pointers are constant after `init`. The plugin's table is static, by its contract; the
/// instance belongs to the plugin, which takes it from any thread, by the thread classes of the ABI.
@safe
final class PluginInstance: @unchecked Sendable {
    /// A step of an instance's life that completes later.
    enum Phase: String, Sendable {
        case open
        case probe
        case close
    }

    /// The image that it is an instance of.
    var plugin: Plugin { resolved.plugin }
    private let resolved: PluginOperations
    /// What the plugin calls back.
    let context: HostContext
    /// What the host lends it.
    let services: GateServices
    /// Passed to every operation.
    let pointer: UnsafeMutableRawPointer?

    /// Lets calls in one at a time; nil unless the plugin asks for that.
    let turn: Turn?
    /// The addresses that the plugin gave out.
    let handles: HandleTable

    let operations: OperationTable
    let environment: GateEnvironment
    private let foreign: Mutex<ForeignState>
    private let life: InstanceLife

    /// What a foreign library's gate is opened with, and what that gave.
    private struct ForeignState {
        var configuration: JSONObject
        var bound: [String: CallValue] = [:]
    }

    /// Runs the plugin's `create`; a foreign library has none, and no instances either.
    init(
        of plugin: Plugin,
        configuration: [UInt8],
        environment: GateEnvironment,
        context: HostContext,
        services: GateServices
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
        self.operations = environment.operations
        self.environment = environment
        self.handles = HandleTable()
        let object = plugin.lifecycle == nil ? (try? JSONValue(parsing: configuration))?.object : nil
        self.foreign = Mutex(ForeignState(configuration: object ?? JSONObject()))
        unsafe self.pointer = pointer
        self.life = context.life
        context.keep(self)
    }

    /// Starts a step; its operation ends when the plugin completes it, or here if the plugin refuses or has nothing to do.
    func begin(_ phase: Phase, operation: UInt64, deadline: UInt64) {
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
    private func foreignStep(_ phase: Phase) -> OperationTable.Outcome {
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
    var bound: [String: CallValue] { plugin.lifecycle == nil ? foreign.withLock(\.bound) : [:] }

    /// An operation of the plugin, ready to be called.
    func operation(named name: String) throws(ConnectorError) -> ResolvedOperation {
        try resolved.operation(named: name)
    }

    /// The function of an operation, whose signature the caller knows.
    func function(of name: String) throws(ConnectorError) -> UnsafeMutableRawPointer {
        unsafe try resolved.function(of: name)
    }

    /// Whether it stands for a library that knows nothing of connectors.
    var isForeign: Bool { plugin.lifecycle == nil }

    /// Whether the plugin can prove that the outside world is still there.
    var canProbe: Bool { unsafe plugin.lifecycle?.probe != nil }

    /// Whether anything is to be done before it is destroyed.
    var canClose: Bool { unsafe plugin.lifecycle?.close != nil || plugin.manifest.lifecycle?.close != nil }

    /// Ends the calls that are pending, and tells the plugin.
    func giveUpAll(_ error: ConnectorError) {
        let calls = operations.giveUpAll(owner: context.owner, error)
        guard !calls.isEmpty else { return }
        environment.workers.run { for call in calls { self.cancel(call) } }
    }

    /// Tells the plugin that nobody waits for a call any more. On a worker thread.
    func cancel(_ operation: UInt64) {
        guard enter() else { return }
        defer { leave() }
        unsafe plugin.lifecycle?.cancel?(pointer, operation)
    }

    // MARK: The end

    /// Runs the plugin's `destroy` once nothing of the host is inside the plugin and no callback into it is under way.
    ///
    /// Returns at once. A call that never comes back keeps the instance for ever.
    func dispose() {
        if life.close() { destroy() }
    }

    /// As ``dispose()``, and waits for `destroy` to have returned, but no longer than to a deadline.
    ///
    /// - Returns: Whether it has.
    func disposed(by deadline: UInt64) async -> Bool {
        dispose()
        let timer = schedule(at: deadline) { [life] in life.endWait() }
        await life.waitForEnd()
        environment.clock.cancel(timer)
        return life.isDestroyed
    }

    /// Counts a call in, to be counted out by ``leave()``; false once the instance is on its way out.
    ///
    /// - Parameter isOperation: Whether an application calls; it is turned away as soon as the gate begins to close.
    func enter(isOperation: Bool = false) -> Bool {
        if life.enter(isOperation: isOperation) { return true }
        leave()
        return false
    }

    /// Counts a call out.
    func leave() {
        if life.leave() { destroy() }
    }

    /// Lets no further operation in, and waits for those that are inside to leave, but no longer than to a deadline.
    ///
    /// - Returns: Whether they have left.
    func drain(by deadline: UInt64) async -> Bool {
        if life.stopOperations() { return true }
        let timer = schedule(at: deadline) { [life] in life.endDrain() }
        await life.drain()
        environment.clock.cancel(timer)
        return life.isEmpty
    }

    private func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        let now = environment.clock.now()
        return environment.clock.schedule(after: deadline > now ? deadline - now : 0, fire)
    }

    /// Runs the plugin's `destroy`, and lets the instance go; called once, by whoever ``InstanceLife`` says so to.
    func destroy() {
        guard let quiet = services.stop() else { return environment.lifecycle.run { self.destroyNow() } }
        Task(executorPreference: environment.lifecycle) { [self] in
            await quiet.ended()
            environment.lifecycle.run { self.destroyNow() }
        }
    }

    /// On a worker thread.
    private func destroyNow() {
        context.withdraw()
        unsafe plugin.lifecycle?.destroy(pointer)
        services.invalidate()
        life.destroyed()
        context.release()
    }
}
