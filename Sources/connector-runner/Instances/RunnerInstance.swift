// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// An instance of a plugin in this process, run for a host in another one: the same instance that a host has of its own, but with
/// services that send their requests to that host.
final class RunnerInstance: CalledGate {
    /// The number that messages about it carry.
    let number: UInt32
    private let description: InstanceDescription
    private let socket: RunnerSocket
    private let dependencies: CallDependencies
    private let sandbox: RunnerSandbox
    let services: RunnerServices
    private let context: HostContext
    let rundown: RundownGuard
    /// Empty: the host keeps the handles of its typed clients.
    let typedHandles = TypedHandles()
    /// The host watches its own calls.
    let watch = CallWatch()
    private let state = Mutex(State())

    private struct State: Sendable {
        var instance: PluginInstance?
        var seat: Int?
        /// The calls that the host awaits, by its ids.
        var calls: [UInt64: Task<Void, Never>] = [:]
        /// The phases that the host awaits: this process's ids, by the host's.
        var phases: [UInt64: UInt64] = [:]
        /// Whether `create` has ended.
        var isMade = false
        /// What runs when the instance is destroyed, if the host gave it up before `create` ended.
        var whenDestroyed: (@Sendable () -> Void)?
    }

    init(
        _ number: UInt32,
        _ description: InstanceDescription,
        _ socket: RunnerSocket,
        _ dependencies: CallDependencies,
        _ sandbox: RunnerSandbox
    ) {
        // Only the host gives calls up if the deadlines are on its clock.
        let dependencies = description.followsHostClock ? dependencies.withoutTime : dependencies
        self.sandbox = sandbox
        self.number = number
        self.description = description
        self.socket = socket
        self.dependencies = dependencies
        services = RunnerServices(number, description, socket, dependencies)
        rundown = RundownGuard(dependencies)
        context = HostContext.lend(to: services) { what in
            var message = MessageWriter()
            message.put(what)
            socket.send(.misbehaved, instance: number, message)
        }
    }

    /// Tells the host which rule the plugin broke.
    func misbehaved(_ what: String) { context.misbehaved(what) }

    // MARK: A called gate

    var path: String { description.gate }
    var manifest: Manifest? { state.withLock(\.instance)?.plugin.manifest }
    /// Empty: the host makes no handles here.
    var callableManifests: [Manifest] { [] }
    var refusal: ConnectorError { ConnectorError(.notOpen, "the instance is being destroyed", isRetryable: true) }

    /// The host adds the path, and redacts.
    func described(_ error: ConnectorError, isForPlugin: Bool) -> ConnectorError { error }

    /// Admits every call.
    func beginWatched() -> CallTicket { CallTicket(round: 0) }

    /// Does nothing: the host watches its own calls.
    func endWatched(_ ticket: CallTicket, _ error: ConnectorError?) {}

    // MARK: The life cycle

    /// Loads the plugin, and makes the instance; on a thread that it may block.
    ///
    /// - Parameters:
    ///   - image: The sealed image; nil for a library that the dynamic linker finds, and for an image that the description names by its
    ///     digest.
    ///   - libraries: The plugin's own libraries, each after those that it needs.
    func create(image: Int32?, libraries: [InstanceTable.SealedLibrary]) {
        HostThread.run {
            make(image, libraries)
        } finally: { [self] hasReturned in
            if !hasReturned { refuse(PluginFunction("create").endedThreadError) }
            let whenDestroyed = state.withLock { state in
                state.isMade = true
                return state.whenDestroyed.take()
            }
            if let whenDestroyed { destroy(then: whenDestroyed) }
        }
    }

    private func make(_ image: Int32?, _ libraries: [InstanceTable.SealedLibrary]) {
        do throws(ConnectorError) {
            let plugin = try load(image, libraries)
            plugin.name(gate: description.gate)
            let instance = try PluginInstance(
                of: plugin,
                configuration: description.configuration,
                dependencies: dependencies,
                context: context,
                services: services
            )
            state.withLock { state in
                state.instance = instance
                state.seat = rundown.directCalls(to: instance)
            }
            var message = MessageWriter()
            message.put(instance.canProbe)
            message.put(instance.canClose)
            message.put(instance.isForeign)
            socket.send(.created, instance: number, message)
        } catch {
            refuse(error)
        }
    }

    /// Tells the host why there is no instance.
    private func refuse(_ error: ConnectorError) {
        var message = MessageWriter()
        error.put(to: &message)
        socket.send(.refused, instance: number, message)
    }

    private func load(_ image: Int32?, _ libraries: [InstanceTable.SealedLibrary]) throws(ConnectorError) -> Plugin {
        defer {
            if let image { _ = OwnedDescriptor(image) }
            for library in libraries { _ = OwnedDescriptor(library.descriptor) }
        }
        let (manifest, problems) = Manifest.read(description.manifest, file: description.path)
        guard let manifest else {
            throw problems.first ?? ConnectorError(.invalidManifest, "the manifest cannot be read")
        }
        let candidate = PluginCandidate(
            manifest: manifest,
            path: description.path,
            sidecar: description.sidecar,
            image: description.isLibrary ? .library(description.path) : .file,
            embeddedText: description.isEmbedded ? description.manifest : nil
        )
        let loader = PluginLoader(storage: .automatic).admitting(PluginAdmission(sha256: description.sha256))
        guard let image else { return try loader.load(candidate) }
        for library in libraries {
            guard let warning = try loader.load(library: library.path, sealed: library.descriptor) else { continue }
            // What a runner prints is logged by the host.
            try? OutputFile.write(Array("\(warning)\n".utf8), to: 1)
        }
        return try loader.load(candidate, sealed: image)
    }

    /// Runs a phase.
    func begin(_ message: inout MessageReader) throws(ConnectorError) {
        guard let phase = InstancePhase(rawValue: try message.text()) else { throw MessageReader.malformed }
        let id = try message.integer(UInt64.self)
        let deadline = try message.integer(UInt64.self)
        guard let instance = state.withLock(\.instance) else { return complete(id, .failure(refusal)) }
        guard let own = dependencies.operations.begin(owner: context.owner) else {
            return complete(id, .failure(OperationTable.isFull))
        }
        state.withLock { $0.phases[id] = own }
        services.map(own, to: id)
        services.operationArrives(id)
        dependencies.gateThreads.run { [self] in
            HostThread.run {
                TraceContext(operation: own, deadline: deadline).run {
                    instance.begin(phase, operation: own, deadline: deadline)
                }
            } finally: { [services] _ in
                services.phaseReturned(id)
            }
        }
        Task(executorPreference: dependencies.gateThreads) { [self] in
            var outcome = await dependencies.operations.awaitOutcome(of: own)
            _ = state.withLock { $0.phases.removeValue(forKey: id) }
            services.unmap(own)
            if phase == .open, case .success = outcome, let fault = narrow(), sandbox.isRequired {
                outcome = .failure(.sandboxDoesNotHold(fault))
            }
            complete(id, outcome)
        }
    }

    /// Enters the second stage of the sandbox. If it fails, tells the host why, and returns the reason.
    private func narrow() -> String? {
        guard let fault = sandbox.narrow() else { return nil }
        var message = MessageWriter()
        message.put(fault)
        socket.send(.weakened, instance: 0, message)
        return fault
    }

    /// Calls an operation.
    func call(_ message: inout MessageReader) throws(ConnectorError) {
        let id = try message.integer(UInt64.self)
        let name = try message.text()
        let deadline = try message.integer(UInt64.self)
        let values = try message.list(limit: 4096) { message throws(ConnectorError) in
            (name: try message.text(), value: try CallValue(&message))
        }
        let options = CallOptions { [socket, number] value in
            var message = MessageWriter()
            message.put(id)
            message.put(value.utf8())
            socket.send(.progress, instance: number, message)
        }
        services.operationArrives(id)
        state.withLock { state in
            state.calls[id] = Task(executorPreference: dependencies.workers) { [self] in
                let outcome = await RunnerServices.$hostOperation.withValue(id) {
                    await answer(id, name, CallArguments(encoded: values), options, by: deadline)
                }
                _ = self.state.withLock { $0.calls.removeValue(forKey: id) }
                services.operationEnds(id)
                complete(id, outcome)
            }
        }
    }

    private func answer(
        _ id: UInt64,
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64
    ) async -> OperationTable.Outcome {
        do throws(ConnectorError) {
            let admission =
                if let admission = rundown.admitNow() { admission } else {
                    try await admitInLine(id, name, by: deadline)
                }
            // What the host has given up by now is not made. Its deadline is checked once more where the function is entered.
            guard !Task.isCancelled else { return .failure(Self.givenUp) }
            let channel = admission.channel
            let result = try await channel.call(name, arguments, options, by: deadline, admission)
            var message = MessageWriter()
            message.put(result.numberedOutputs) { message, output in
                message.put(output.name)
                output.value.put(to: &message)
            }
            guard message.bytes.count <= FrameHeader.limit - 64 else {
                return .failure(ConnectorError(.tooLarge, "the results of \(name) have more than 64 MiB together"))
            }
            return .success(message.bytes)
        } catch {
            return .failure(error)
        }
    }

    /// Admits a call that has to wait for its turn.
    private func admitInLine(_ id: UInt64, _ name: String, by deadline: UInt64) async throws(ConnectorError)
        -> Admission
    {
        services.report(id, waitsFor: .turn)
        let admission = try await admit(name, by: deadline.saturatingAdding(dependencies.grace))
        services.report(id, waitsFor: nil)
        return admission
    }

    /// The outcome of a call that the host has given up, and no longer awaits.
    static let givenUp = ConnectorError(.cancelled, "the host gave it up")

    private func complete(_ id: UInt64, _ outcome: OperationTable.Outcome) {
        var message = MessageWriter()
        message.put(id)
        switch outcome {
        case .success(let bytes):
            message.put(true)
            message.put(bytes)
        case .failure(let error):
            message.put(false)
            error.put(to: &message)
        }
        socket.send(.completed, instance: number, message)
    }

    /// Cancels a call or a phase that the host has given up.
    func cancel(_ id: UInt64) {
        let (call, phase, instance) = state.withLock { ($0.calls[id], $0.phases[id], $0.instance) }
        call?.cancel()
        if let phase, let instance { _ = instance.giveUp(phase, Self.givenUp) }
        services.reportReturn(of: id)
    }

    /// Destroys the instance once the plugin's code no longer runs; without an instance, only gives back what was lent.
    ///
    /// - Parameter done: Runs when it is destroyed.
    func dispose(then done: @escaping @Sendable () -> Void) {
        let isMade = state.withLock { state in
            if !state.isMade { state.whenDestroyed = done }
            return state.isMade
        }
        if isMade { destroy(then: done) }
    }

    private func destroy(then done: @escaping @Sendable () -> Void) {
        let (instance, seat) = state.withLock { ($0.instance, $0.seat.take()) }
        rundown.shut()
        Task(executorPreference: dependencies.gateThreads) { [self] in
            if let seat {
                await rundown.emptied(seat).wait()
                rundown.vacate(seat)
            }
            if let instance {
                await instance.dispose().wait()
            } else {
                await services.stop()?.wait()
                services.invalidate()
                context.giveBack()
            }
            done()
        }
    }
}
