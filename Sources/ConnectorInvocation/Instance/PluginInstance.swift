// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
package import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// A plugin instance in this process, with the life cycle defined in `connector/plugin.h`.
///
/// Life-cycle functions run plugin code on the calling thread, which is one of ``WorkerThreads``, one function at a time. The
/// owner disposes of the instance once the ``RundownGuard`` reports that no caller is inside.
///
/// `@unchecked Sendable`: the stored pointers are constant after `init`. The plugin's table is static by contract. The instance
/// pointer belongs to the plugin, which accepts it on any thread, as specified by the ABI's thread classes.
@safe
package final class PluginInstance: @unchecked Sendable {
    /// The loaded plugin.
    package var plugin: Plugin { resolved.plugin }
    let resolved: PluginOperations
    /// The `connector_host` table that the plugin calls back through.
    package let context: HostContext
    /// The services lent to the instance.
    package let services: any InstanceServices
    /// Whether the plugin's functions in this process may call gates that it uses.
    let usesGates: Bool
    /// Whether a ``StandIn`` answers in place of the plugin's code. It never blocks, so its functions run on their callers' threads.
    let isStandIn: Bool
    /// The plugin's instance pointer, passed to every operation.
    package let pointer: UnsafeMutableRawPointer?
    /// What its functions forward each call to, whose address is ``pointer``; nil for a plugin in this process.
    let forwarder: Forwarder?

    /// Admits one call at a time; nil unless the plugin is `serial`.
    package let serialGate: SerialGate?
    /// The handles that the plugin has returned.
    package let handles = HandleTable()

    package let dependencies: CallDependencies
    /// The threads on which calls by name enter the plugin.
    package let threads: CallThreads
    /// The threads that notify the plugin of given-up calls.
    private let cancelThreads: CallThreads
    /// How many prompt functions are inside the plugin on the threads of their callers.
    let promptCount = Atomic<Int>(0)
    /// The table of pending calls.
    package var operations: OperationTable { dependencies.operations }
    private let foreign: Mutex<ForeignState>
    private let activity = Mutex(Activity())
    private let destroyed = OneShot<Void>()

    /// The configuration to open a foreign library with, and the values returned by opening it.
    private struct ForeignState {
        var configuration: JSONObject
        var bound: [String: CallValue] = [:]
    }

    /// The life-cycle functions inside the plugin, and whether more may enter.
    private struct Activity {
        /// The running functions.
        var inside: [String] = []
        /// The cancellations that wait for their thread or run on it.
        var cancellations = 0
        var isEnding = false

        /// Whether `destroy` is next.
        var isOver: Bool { isEnding && inside.isEmpty && cancellations == 0 }
    }

    /// Creates an instance by calling the plugin's `create`, which a foreign library does not have.
    package init(
        of plugin: Plugin,
        configuration: [UInt8],
        dependencies: CallDependencies,
        context: HostContext,
        services: any InstanceServices
    ) throws(ConnectorError) {
        var pointer: UnsafeMutableRawPointer?
        if let table = plugin.table {
            var failure: ErrorObject.Failure?
            unsafe ErrorObject.with { error in
                let status = unsafe configuration.withUnsafeBytes { bytes in
                    guard let text = bytes.baseAddress else { return Int32(CONNECTOR_INVALID) }
                    return unsafe PluginCode.running(unsafeBitCast(table.create, to: UnsafeRawPointer.self)) {
                        unsafe table.create(
                            context.table,
                            text.assumingMemoryBound(to: CChar.self),
                            UInt64(bytes.count),
                            &pointer,
                            error
                        )
                    }
                }
                guard status != Int32(CONNECTOR_OK) else { return }
                failure = unsafe ErrorObject.read(error, status, "creating the plugin's instance")
            }
            if let failure { throw failure.error }
        }
        self.resolved = PluginOperations(of: plugin)
        self.serialGate = plugin.manifest.thread == .serial ? SerialGate() : nil
        self.context = context
        self.services = services
        usesGates = !plugin.manifest.uses.isEmpty
        isStandIn = plugin.owner is StandIn
        self.dependencies = dependencies
        self.threads = CallThreads(dependencies.workers)
        self.cancelThreads = CallThreads(dependencies.cancelThreads, limit: 4)
        let object = plugin.table == nil ? (try? JSONValue(parsing: configuration))?.object : nil
        self.foreign = Mutex(ForeignState(configuration: object ?? JSONObject()))
        unsafe self.pointer = pointer
        forwarder = nil
    }

    /// Creates an instance whose functions forward calls to one elsewhere, which has the life cycle and keeps the order of calls.
    ///
    /// - Parameter forwarder: What the functions receive as their instance.
    init(
        forwarding plugin: Plugin,
        to forwarder: Forwarder,
        dependencies: CallDependencies,
        context: HostContext,
        services: any InstanceServices
    ) {
        resolved = PluginOperations(of: plugin)
        serialGate = nil
        self.context = context
        self.services = services
        (usesGates, isStandIn) = (false, false)
        self.dependencies = dependencies
        threads = CallThreads(dependencies.workers)
        cancelThreads = CallThreads(dependencies.cancelThreads, limit: 4)
        foreign = Mutex(ForeignState(configuration: JSONObject()))
        unsafe pointer = Unmanaged.passUnretained(forwarder).toOpaque()
        self.forwarder = forwarder
    }

    /// Starts a phase. The plugin completes the operation; the host does if the plugin refuses or lacks the function.
    package func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {
        guard enter(phase.rawValue) else {
            let error = ConnectorError(.notOpen, "the gate is closing")
            operations.complete(operation, owner: context.owner, .failure(error))
            return
        }
        HostThread.run {
            callPhase(phase, operation: operation, deadline: deadline)
        } finally: { [self] hasReturned in
            if !hasReturned {
                let error = PluginFunction(phase.rawValue, isForeign: isForeign).endedThreadError
                operations.complete(operation, owner: context.owner, .failure(error))
                context.misbehaved(error.message)
            }
            leave(phase.rawValue)
        }
    }

    /// Calls the function of a phase, on this thread.
    private func callPhase(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {
        let function =
            switch phase {
            case .open: unsafe plugin.table?.open
            case .probe: unsafe plugin.table?.probe
            case .close: unsafe plugin.table?.close
            }
        guard let function = unsafe function else {
            operations.complete(operation, owner: context.owner, foreignStep(phase))
            return
        }
        var call = connector_call(operation: operation, deadline: deadline)
        unsafe ErrorObject.with { error in
            let status = unsafe PluginCode.running(unsafeBitCast(function, to: UnsafeRawPointer.self)) {
                unsafe function(pointer, &call, error)
            }
            guard status == Int32(CONNECTOR_OK) else {
                return unsafe refuse(operation, status, error, phase.rawValue)
            }
            cancelAgain(operation)
        }
    }

    /// Runs the operation that opens or closes a foreign library, if it has one.
    private func foreignStep(_ phase: InstancePhase) -> OperationTable.Outcome {
        let lifecycle = plugin.manifest.lifecycle
        guard let name = phase == .open ? lifecycle?.open : phase == .close ? lifecycle?.close : nil else {
            return .success([])
        }
        do throws(ConnectorError) {
            let operation = try operation(named: name)
            let signature = operation.operation.signature
            let state = foreign.withLock(\.self)
            // A field may have the name of what the library's `open` has made of it.
            let given = signature.parameters.filter { state.bound[$0.name] == nil }.compactMap { parameter in
                state.configuration[parameter.name].map { (parameter.name, $0) }
            }
            let values: [CallValue]
            do throws(ConnectorError) {
                values = try CallArguments(JSONObject(given)).values(
                    for: signature,
                    operation: name,
                    bound: state.bound,
                    handles: handles
                )
            } catch {
                var error = error
                // Nobody but the host calls it.
                error.fix = "correct the value in the connector's \"config\", or the sidecar's signature of \(name)"
                throw error
            }
            let outputs = try callNow(operation, values)
            if phase == .open {
                let resultName = operation.foreign?.resultName
                foreign.withLock { state in
                    for output in outputs {
                        // A single result has no name in the answer.
                        guard let name = output.name.isEmpty ? resultName : output.name else { continue }
                        state.bound[name] = output.value
                    }
                }
            }
            return .success([])
        } catch {
            return .failure(error)
        }
    }

    /// The values returned by opening a foreign library, bound to the parameters of the same names.
    package var bound: [String: CallValue] { plugin.table == nil ? foreign.withLock(\.bound) : [:] }

    /// An operation of the plugin, resolved and ready to call.
    package func operation(named name: String) throws(ConnectorError) -> ResolvedOperation {
        try resolved.operation(named: name)
    }

    /// An operation by its position among all operations of the manifest, resolved and ready to call.
    package func operation(at position: Int) throws(ConnectorError) -> ResolvedOperation {
        try resolved.operation(at: position)
    }

    /// The function of an operation whose signature the caller knows.
    package func function(of name: String) throws(ConnectorError) -> UnsafeMutableRawPointer {
        unsafe try resolved.function(of: name)
    }

    /// Whether the plugin is a foreign library, not written as a plugin.
    package var isForeign: Bool { plugin.table == nil }

    /// Whether the plugin can probe its connection to the outside world.
    package var canProbe: Bool { unsafe plugin.table?.probe != nil }

    /// Whether the instance must be closed before it is destroyed.
    package var canClose: Bool { unsafe plugin.table?.close != nil || plugin.manifest.lifecycle?.close != nil }

    /// Notifies the plugin that the host gave up a call, on one of the instance's few threads for that.
    ///
    /// The instance is not destroyed before the plugin has been notified.
    package func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void) {
        guard count({ $0.cancellations += 1 }) else { return next() }
        notifyCancelled(operation, then: next)
    }

    /// Gives up a call and notifies the plugin; the instance is not destroyed in between.
    ///
    /// - Returns: Whether the call was pending.
    package func giveUp(_ operation: UInt64, _ error: ConnectorError) -> Bool {
        let isAlive = count { $0.cancellations += 1 }
        let isGivenUp = operations.giveUp(operation, owner: context.owner, error)
        guard isAlive else { return isGivenUp }
        if isGivenUp { notifyCancelled(operation) {} } else { countOut { $0.cancellations -= 1 } }
        return isGivenUp
    }

    /// Notifies the plugin again of a call that the host gave up before the plugin's function returned. The first notification
    /// may have come before the plugin knew of the call.
    func cancelAgain(_ operation: UInt64) {
        if operations.wasGivenUp(operation, owner: context.owner) { cancel(operation) {} }
    }

    private func notifyCancelled(_ operation: UInt64, then next: @escaping @Sendable () -> Void) {
        services.cancelCalls(during: operation)
        cancelThreads.run { [self] in
            let finish: @Sendable () -> Void = { [self] in
                countOut { $0.cancellations -= 1 }
                next()
            }
            if let cancel = unsafe plugin.table?.cancel {
                let function = PluginFunction("cancel")
                cancelThreads.entered(function)
                services.lifeCycle(function.name, isInside: true)
                HostThread.run {
                    unsafe PluginCode.running(unsafeBitCast(cancel, to: UnsafeRawPointer.self)) {
                        unsafe cancel(pointer, operation)
                    }
                } finally: { [self] hasReturned in
                    services.lifeCycle(function.name, isInside: false)
                    cancelThreads.left(function)
                    if !hasReturned { context.misbehaved(function.endedThreadError.message) }
                    finish()
                }
            } else {
                finish()
            }
        }
    }

    /// The plugin functions that are running on threads of the host, except typed calls. A `cancel` that waits for its thread is none.
    package var functionsInside: [PluginFunction] {
        activity.withLock(\.inside).map { PluginFunction($0) } + threads.functionsInside + cancelThreads.functionsInside
    }

    // MARK: Destroying

    /// Calls the plugin's `destroy` once no phase of the host is inside the plugin and no callback into it is running.
    ///
    /// Returns immediately. A plugin function that never returns keeps the instance alive forever.
    ///
    /// - Returns: The event that `destroy` has returned.
    @discardableResult
    package func dispose() -> OneShot<Void> {
        let isLast = activity.withLock { activity in
            guard !activity.isEnding else { return false }
            activity.isEnding = true
            return activity.isOver
        }
        if isLast { destroy() }
        return destroyed
    }

    /// Counts a function in; ``leave(_:)`` counts it out. Returns false once the instance is about to be destroyed.
    private func enter(_ function: String) -> Bool { count { $0.inside.append(function) } }

    private func leave(_ function: String) {
        countOut { activity in
            if let index = activity.inside.firstIndex(of: function) { activity.inside.remove(at: index) }
        }
    }

    /// Registers work that must finish before the instance is destroyed; false if destruction has begun.
    private func count(_ change: (inout Activity) -> Void) -> Bool {
        activity.withLock { activity in
            guard !activity.isEnding else { return false }
            change(&activity)
            return true
        }
    }

    private func countOut(_ change: (inout Activity) -> Void) {
        let isLast = activity.withLock { activity in
            change(&activity)
            return activity.isOver
        }
        if isLast { destroy() }
    }

    /// Calls the plugin's `destroy` after its callbacks have returned.
    private func destroy() {
        guard let drained = services.stop() else { return dependencies.gateThreads.run { self.destroyNow() } }
        Task(executorPreference: dependencies.gateThreads) { [self] in
            await drained.wait()
            dependencies.gateThreads.run { self.destroyNow() }
        }
    }

    /// Calls the plugin's `destroy`, on a worker thread.
    private func destroyNow() {
        activity.withLock { $0.inside = ["destroy"] }
        HostThread.run {
            guard let table = plugin.table else { return }
            services.lifeCycle("destroy", isInside: true)
            unsafe PluginCode.running(unsafeBitCast(table.destroy, to: UnsafeRawPointer.self)) {
                unsafe table.destroy(pointer)
            }
        } finally: { [self] hasReturned in
            if plugin.table != nil { services.lifeCycle("destroy", isInside: false) }
            if !hasReturned { context.misbehaved(PluginFunction("destroy").endedThreadError.message) }
            services.invalidate()
            context.giveBack()
            destroyed.send()
        }
    }
}
