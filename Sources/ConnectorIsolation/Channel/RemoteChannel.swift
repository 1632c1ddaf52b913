// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
package import ConnectorLoading
package import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// The channel to an instance in a runner: messages, and lanes for calls that are answered at once.
///
/// No call takes a thread of the host. Deadlines are kept here, whatever the runner does; the runner's word about an operation
/// counts only while the operation is pending, and only for its own instance. The plugin's requests to the services arrive as
/// messages, and run in the host as if the plugin had called the services' tables itself.
package final class RemoteChannel: Channel, RunnerClient {
    /// The gate's path.
    package let path: String
    /// The loaded bytes; nil for a library that the runner's dynamic linker finds.
    package let content: ImageContent?
    let manifest: Manifest
    let dependencies: CallDependencies
    let context: HostContext
    let services: any InstanceServices
    /// The runner.
    package let runner: Runner
    let onLoss: @Sendable (ConnectorError) -> Void
    /// Maps the runner's handles to numbers: the host never uses them as addresses.
    let handles = RemoteHandles()
    let state = Mutex(State())
    let creation = Monitor<Result<Created, ConnectorError>?>(nil)
    let destroyed = OneShot<Void>()
    /// The functions for typed and prepared calls; nil until they are needed.
    let forwarding = Mutex<ForwardingInstance?>(nil)
    /// Runs the plugin's requests to the services.
    let requests: RemoteServices

    struct State: Sendable {
        var number: UInt32 = 0
        var imagePath: String?
        var pending: [UInt64: Pending] = [:]
        /// The functions that have not returned, of phases and of calls that the host has given up.
        var inside: [UInt64: PluginFunction] = [:]
        /// The other functions that run: `cancel`, `destroy`, and callbacks.
        var lifeCycle: [PluginFunction] = []
        /// Since when a callback runs; nil if none does.
        var callbackSince: UInt64?
        /// Whether the plugin has ever started a timer.
        var hasTimers = false
        /// The number of the message that asks for the instance; nil while it is being sent.
        var creation: UInt64?
        var created = Created()
        /// Whether the gate has disposed of the instance.
        var isDisposed = false
        /// The number of the last message that begins a phase of the instance's life, or ends it; nil before one is sent.
        var lifeCycleMessage: UInt64?
        /// Whether the gate has been told that the instance takes no further calls.
        var isLost = false
        /// Whether the instance, or its runner, is gone.
        var isOver = false
        /// Whether what was lent has been taken back.
        var hasEnded = false
    }

    /// A call, or a phase, that the runner has not answered.
    struct Pending: Sendable {
        let name: String
        let isPhase: Bool
        /// Whether it may be made again even if it took effect.
        let isRepeatable: Bool
        /// The number of the message that carried it, the largest one if a runner that is ending did not take it; nil while it is
        /// being sent.
        var message: UInt64?
        let trace: TraceContext
        /// What it waits for in the runner, so that the plugin does not know it yet; nil for nothing.
        var wait: CallWait?
        /// Whether the function is known to have returned.
        var hasReturned = false
    }

    /// What the runner says about a new instance.
    struct Created: Sendable {
        var canProbe = false
        var canClose = false
        var isForeign = false
    }

    /// Creates a channel without an instance; ``create(_:_:by:)`` makes one.
    ///
    /// - Parameters:
    ///   - services: The services lent to the instance.
    ///   - onLoss: Called once if the runner ends before the instance is destroyed; must not retain the gate.
    package init(
        _ path: String,
        _ manifest: Manifest,
        content: ImageContent?,
        on runner: Runner,
        dependencies: CallDependencies,
        context: HostContext,
        services: any InstanceServices,
        onLoss: @escaping @Sendable (ConnectorError) -> Void
    ) {
        self.path = path
        self.manifest = manifest
        self.content = content
        self.runner = runner
        self.dependencies = dependencies
        self.context = context
        self.services = services
        self.onLoss = onLoss
        requests = RemoteServices(services, dependencies)
    }

    /// Nil: the instance is in another process.
    package var instance: PluginInstance? { nil }
    package var imagePath: String? { state.withLock(\.imagePath) }
    /// Whether the instance is a foreign library.
    package var isForeign: Bool { state.withLock(\.created.isForeign) }
    /// Whether the plugin can probe its connection.
    package var canProbe: Bool { state.withLock(\.created.canProbe) }
    /// Whether the instance must be closed before it is destroyed.
    package var canClose: Bool { state.withLock(\.created.canClose) }
    /// The functions that have not returned in the runner: of phases that it has taken, of calls that the host has given up, `cancel`,
    /// `destroy`, and callbacks.
    package var functionsInside: [PluginFunction] {
        let taken = runner.taken ?? .max
        return state.withLock { state in
            let inside = state.inside.filter { id, _ in
                guard let pending = state.pending[id] else { return true }
                return pending.message.map { $0 <= taken } ?? false
            }
            return inside.values + state.lifeCycle
        }
    }

    /// What the host has of the plugin, or the runner, which is in a callback or may have a timer.
    package func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork {
        let work = services.pendingWork(for: operation, during: span)
        guard work == .nothing else { return work }
        let isWaiting = state.withLock { state in
            state.hasTimers || state.lifeCycle.contains { $0.name == PluginFunction.callback }
        }
        return isWaiting ? .other : .nothing
    }

    var plugin: String { "\(manifest.id) \(manifest.version)" }

    // MARK: Creating

    /// Makes the instance, and blocks until it exists, has failed, or the deadline has passed.
    ///
    /// - Parameters:
    ///   - plugin: The sealed image, with the libraries beside it; nil for a library that the runner's dynamic linker finds.
    ///   - deadline: In the clock's monotonic time.
    package func create(
        _ description: InstanceDescription,
        _ plugin: SealedPlugin?,
        by deadline: UInt64
    ) throws(ConnectorError) {
        if let refusal = runner.refusal(of: path) { throw refusal }
        guard let number = runner.add(self) else { throw notSent("create") }
        state.withLock { state in
            state.number = number
            state.imagePath = description.path
        }
        requests.connect(runner, number)
        let message = send(description, plugin, as: number)
        guard message != nil || !runner.isAlive else {
            runner.remove(number)
            throw notSent("create")
        }
        state.withLock { $0.creation = message ?? .max }
        let rest = dependencies.remaining(until: deadline)
        let end = SystemTime.monotonic().saturatingAdding(dependencies.clock.systemTime(of: rest))
        let answer = creation.wait { answer in
            if let answer { return .proceed(answer) }
            guard SystemTime.monotonic() < end else { return .proceed(.failure(late(after: rest))) }
            return .wait(until: end)
        }
        do throws(ConnectorError) {
            let created = try answer.get()
            state.withLock { $0.created = created }
        } catch {
            let isLate = error.code == .timedOut
            if isLate { checkPulse() }
            // First, so that whatever the runner says of the instance from now on is ignored.
            runner.remove(number, isLeft: isLate)
            runner.send(.dispose, instance: number, [])
            requests.timers.stop()
            throw error
        }
    }

    /// Asks the runner for the instance.
    ///
    /// - Returns: The number of the message; nil if it could not be sent.
    private func send(_ description: InstanceDescription, _ plugin: SealedPlugin?, as number: UInt32) -> UInt64? {
        for library in plugin?.libraries ?? [] {
            var message = MessageWriter()
            message.put(library.path)
            let sent = runner.send(.library, instance: number, message.bytes, descriptor: library.descriptor)
            guard sent != nil else { return nil }
        }
        var message = MessageWriter()
        description.put(to: &message)
        let image = plugin?.image.descriptor ?? -1
        return runner.send(.create, instance: number, message.bytes, descriptor: image)
    }

    private func late(after wait: UInt64) -> ConnectorError {
        (hasTakenCreation ? MissedDeadline.making(plugin) : .starting(plugin)).error(after: wait)
    }

    /// Whether the runner has taken the message that asks for the instance.
    package var hasTakenCreation: Bool {
        Self.sending(of: state.withLock(\.creation), taken: runner.taken) != .no
    }

    // MARK: Destroying

    /// Tells the runner to destroy the instance.
    @discardableResult
    package func dispose() -> OneShot<Void> {
        let number = state.withLock { state -> UInt32? in
            guard !state.isDisposed else { return nil }
            state.isDisposed = true
            return state.isOver ? 0 : state.number
        }
        guard let number else { return destroyed }
        let message = number == 0 ? nil : runner.send(.dispose, instance: number, [], isEssential: true)
        guard let message else {
            end()
            return destroyed
        }
        state.withLock { $0.lifeCycleMessage = message }
        return destroyed
    }

    /// Leaves a blocked instance to its runner, which ends unless it carries others. One that does destroys the instance once its functions
    /// have returned.
    package func abandon() {
        let (number, isDisposed) = state.withLock { state in
            (state.isOver, state.inside, state.lifeCycle) = (true, [:], [])
            return (state.number, state.isDisposed)
        }
        runner.remove(number, isLeft: true)
        requests.timers.stop()
        guard !isDisposed else { return end() }
        // Callers are still inside; the last one to leave takes back what was lent.
        runner.send(.dispose, instance: number, [], isEssential: true)
    }

    /// Takes back what was lent, once the instance is gone.
    func end() {
        let isFirst = state.withLock { state in
            defer { (state.isOver, state.hasEnded) = (true, true) }
            return !state.hasEnded
        }
        guard isFirst else { return }
        let drained = requests.stop()
        Task(executorPreference: dependencies.gateThreads) { [self] in
            await drained?.wait()
            services.invalidate()
            context.giveBack()
            destroyed.send(())
        }
    }

    /// The error of a call that was not sent, because the runner has ended or does not read.
    func notSent(_ what: String) -> ConnectorError {
        if let end = runner.end { return withLog(end).error(what, plugin: plugin, sending: .no, isRepeatable: true) }
        var error = ConnectorError(
            .crashed,
            "\(what): the runner of \(plugin) \(runner.isAlive ? "does not take messages" : "has ended"); "
                + "the call was not sent",
            isRetryable: true
        )
        error.sending = .no
        return error
    }
}
