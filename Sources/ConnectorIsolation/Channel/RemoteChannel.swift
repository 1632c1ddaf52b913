// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
package import ConnectorLoading
package import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// The channel to an instance in a runner: messages over a socket.
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
    let environment: CallEnvironment
    let context: HostContext
    let services: any InstanceServices
    private let runner: Runner
    private let onLoss: @Sendable (ConnectorError) -> Void
    /// Maps the runner's handles to numbers: the host never uses them as addresses.
    private let handles = HandleTable()
    private let state = Mutex(State())
    private let creation = Monitor<Result<Created, ConnectorError>?>(nil)
    private let destroyed = OneShot<Void>()
    /// The functions for typed and prepared calls; nil until there is one.
    let forwarding = Mutex<ForwardingInstance?>(nil)
    /// The requests of the plugin that the host works on.
    let requests: RemoteServices

    private struct State: Sendable {
        var number: UInt32 = 0
        var pending: [UInt64: Pending] = [:]
        /// The phases whose functions have not returned.
        var inside: [UInt64: PluginFunction] = [:]
        var created = Created()
        /// Whether the gate has let the instance go.
        var isDisposed = false
        /// Whether the instance, or its runner, is gone.
        var isOver = false
        /// Whether what was lent is taken back.
        var hasEnded = false
    }

    /// A call, or a phase, that the runner has not answered.
    private struct Pending: Sendable {
        let name: String
        /// The number of the message that carried it; nil while it is being sent.
        var message: UInt64?
        let trace: TraceContext
    }

    /// What the runner says of a new instance.
    struct Created: Sendable {
        var canProbe = false
        var canClose = false
        var isForeign = false
    }

    /// Creates a channel without an instance; ``create(_:_:by:)`` makes that.
    ///
    /// - Parameters:
    ///   - services: The services lent to the instance.
    ///   - onLoss: Called once if the runner ends before the instance is destroyed; must not retain the gate.
    package init(
        _ path: String,
        _ manifest: Manifest,
        content: ImageContent?,
        on runner: Runner,
        environment: CallEnvironment,
        context: HostContext,
        services: any InstanceServices,
        onLoss: @escaping @Sendable (ConnectorError) -> Void
    ) {
        self.path = path
        self.manifest = manifest
        self.content = content
        self.runner = runner
        self.environment = environment
        self.context = context
        self.services = services
        self.onLoss = onLoss
        requests = RemoteServices(services, environment)
    }

    /// The instance is in another process.
    package var instance: PluginInstance? { nil }
    /// Whether the instance is a foreign library.
    package var isForeign: Bool { state.withLock(\.created.isForeign) }
    /// Whether the plugin can probe its connection.
    package var canProbe: Bool { state.withLock(\.created.canProbe) }
    /// Whether the instance must be closed before it is destroyed.
    package var canClose: Bool { state.withLock(\.created.canClose) }
    /// The phases whose functions have not returned, in the runner.
    package var functionsInside: [PluginFunction] { state.withLock { Array($0.inside.values) } }

    private var plugin: String { "\(manifest.id) \(manifest.version)" }

    // MARK: Creating

    /// Makes the instance, and blocks until it exists, or cannot, or the deadline has passed.
    ///
    /// - Parameters:
    ///   - image: The sealed image's descriptor, which stays the caller's; -1 for none.
    ///   - deadline: In the clock's monotonic time.
    package func create(_ description: InstanceDescription, image: Int32, by deadline: UInt64) throws(ConnectorError) {
        guard let number = runner.add(self) else { throw notSent("create") }
        state.withLock { $0.number = number }
        requests.connect(runner, number)
        var message = MessageWriter()
        description.put(to: &message)
        guard runner.send(.create, instance: number, message.bytes, descriptor: image) != nil else {
            runner.remove(number)
            throw notSent("create")
        }
        let now = environment.clock.now()
        let end = SystemTime.monotonic().saturatingAdding(deadline > now ? deadline - now : 0)
        let answer = creation.wait { answer in
            if let answer { return .proceed(answer) }
            guard SystemTime.monotonic() < end else { return .proceed(.failure(late)) }
            return .wait(until: end)
        }
        do throws(ConnectorError) {
            let created = try answer.get()
            state.withLock { $0.created = created }
        } catch {
            // Whatever the runner still does for the instance, nobody hears of it.
            runner.send(.dispose, instance: number, [])
            runner.remove(number)
            throw error
        }
    }

    private var late: ConnectorError {
        ConnectorError(
            .timedOut,
            "create of \(plugin) did not return in its runner",
            fix: "fix the plugin: its constructors, its entry function and create must not block",
            isRetryable: true
        )
    }

    // MARK: Calling

    /// Starts a phase in the runner.
    package func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {
        var message = MessageWriter()
        message.put(phase.rawValue)
        message.put(operation)
        message.put(environment.remaining(until: deadline))
        let name = phase.rawValue
        state.withLock { $0.inside[operation] = PluginFunction(name) }
        let trace = TraceContext(operation: operation, deadline: deadline)
        start(.begin, operation, name, trace, message.bytes)
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

    /// Calls an operation for a caller that is admitted.
    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64
    ) async throws(ConnectorError) -> CallResult {
        guard let operation = manifest.operation(named: name)?.operation else { throw manifest.unknownOperation(name) }
        if let objection = manifest.lifecycle?.objection(to: operation) { throw objection }
        let signature = operation.signature
        let values = try arguments.values(for: signature, operation: name, bound: bound, handles: handles)
        guard let id = environment.operations.begin(owner: context.owner, progress: options.onProgress) else {
            throw OperationTable.isFull
        }
        let trace = TraceContext.current.during(id, by: deadline)
        services.callBegins(trace)
        defer { services.callEnds(id) }
        var message = MessageWriter()
        message.put(id)
        message.put(name)
        message.put(environment.remaining(until: deadline))
        let names = signature.parameters.filter { $0.direction == .in }.map(\.name)
        let inputs = Array(zip(names, values))
        message.put(inputs) { message, input in
            message.put(input.0)
            input.1.put(to: &message)
        }
        start(.call, id, name, trace, message.bytes)
        let payload = try await outcome(of: id, name, signature, by: deadline).get()
        return try result(payload, of: name, signature)
    }

    /// Sends a call that has begun; one that cannot be sent has failed.
    private func start(
        _ kind: MessageKind,
        _ id: UInt64,
        _ name: String,
        _ trace: TraceContext,
        _ payload: [UInt8]
    ) {
        let number = state.withLock { state -> UInt32? in
            guard !state.isOver else { return nil }
            state.pending[id] = Pending(name: name, message: nil, trace: trace)
            return state.number
        }
        if let number, let message = runner.send(kind, instance: number, payload) {
            state.withLock { $0.pending[id]?.message = message }
            return
        }
        forget(id)
        environment.operations.complete(id, owner: context.owner, .failure(notSent(name)))
    }

    /// Awaits the outcome of a call.
    private func outcome(of id: UInt64, _ name: String, _ signature: Signature, by deadline: UInt64) async
        -> OperationTable.Outcome
    {
        let operations = environment.operations
        defer { forget(id) }
        if let early = operations.takeOutcome(of: id) { return early }
        let timer = environment.giveUpAtDeadline(
            { [services, plugin] id in
                signature.isAsync
                    ? .completion(of: name, isWaiting: services.isWaiting(for: id))
                    : .returning(from: PluginFunction(name), of: plugin)
            },
            id,
            owner: context.owner,
            deadline: deadline
        ) { [self] id in
            cancel(id)
            runner.checkPulse(on: environment.clock, patience: Self.grace)
        }
        defer { environment.clock.cancel(timer) }
        return await withTaskCancellationHandler {
            await operations.awaitOutcome(of: id)
        } onCancel: {
            let error = ConnectorError(.cancelled, "\(name) was cancelled")
            if operations.giveUp(id, owner: context.owner, error) { cancel(id) }
        }
    }

    /// How long a runner with an overdue call may take to show that it lives, in nanoseconds.
    private static let grace: UInt64 = 2_000_000_000

    /// The parameters that a foreign library's opening binds; the runner knows their values.
    private var bound: [String: CallValue] {
        guard let lifecycle = manifest.lifecycle, let name = lifecycle.open,
            let signature = manifest.operation(named: name)?.operation.signature
        else { return [:] }
        let names =
            signature.parameters.filter { $0.direction == .out }.map(\.name) + signature.results.compactMap(\.name)
        return names.reduce(into: [:]) { if !$1.isEmpty { $0[$1] = CallValue.none } }
    }

    /// Checks the answer of an operation.
    private func result(_ payload: [UInt8], of name: String, _ signature: Signature) throws(ConnectorError)
        -> CallResult
    {
        var types: [String: ValueType] = [:]
        for output in signature.parameters where output.direction == .out { types[output.name] = output.type }
        for result in signature.results { types[result.name ?? ""] = result.type }
        do throws(ConnectorError) {
            var message = MessageReader(payload)
            let outputs = try message.list { message throws(ConnectorError) -> CallOutput in
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

    /// Tells the runner that an operation is given up.
    package func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void) {
        services.cancelCalls(during: operation)
        var message = MessageWriter()
        message.put(operation)
        let number = state.withLock(\.number)
        runner.send(.cancel, instance: number, message.bytes)
        environment.cancelThreads.run(next)
    }

    // MARK: Destroying

    /// Lets the runner destroy the instance.
    @discardableResult
    package func dispose() -> OneShot<Void> {
        let number = state.withLock { state -> UInt32? in
            guard !state.isDisposed else { return nil }
            state.isDisposed = true
            return state.isOver ? 0 : state.number
        }
        guard let number else { return destroyed }
        if number == 0 || runner.send(.dispose, instance: number, []) == nil { end() }
        return destroyed
    }

    /// Takes back what was lent, once the instance is gone.
    private func end() {
        let isFirst = state.withLock { state in
            defer { (state.isOver, state.hasEnded) = (true, true) }
            return !state.hasEnded
        }
        guard isFirst else { return }
        let drained = services.stop()
        Task(executorPreference: environment.gateThreads) { [self] in
            await drained?.wait()
            services.invalidate()
            context.giveBack()
            destroyed.send(())
        }
    }

    // MARK: Messages of the runner

    /// Takes a message about the instance.
    package func receive(_ frame: consuming Frame) {
        var message = MessageReader(frame.payload)
        do throws(ConnectorError) {
            switch frame.kind {
            case .created:
                let created = Created(
                    canProbe: try message.bool(),
                    canClose: try message.bool(),
                    isForeign: try message.bool()
                )
                settle(.success(created))
            case .refused: settle(.failure(try ConnectorError(&message)))
            case .completed: try complete(&message)
            case .progress:
                let id = try message.integer(UInt64.self)
                guard let value = try? JSONValue(parsing: try message.data()) else { throw MessageReader.malformed }
                _ = environment.operations.progress(id, owner: context.owner, value)
            case .returned:
                let id = try message.integer(UInt64.self)
                _ = state.withLock { $0.inside.removeValue(forKey: id) }
            case .misbehaved: context.misbehaved(String(try message.text().prefix(4096)))
            case .disposed: disposed()
            default: try requests.receive(frame.kind, &message) { id in state.withLock { $0.pending[id]?.trace } }
            }
        } catch {
            context.misbehaved("sent a message that is malformed, from its runner")
        }
    }

    private func settle(_ answer: Result<Created, ConnectorError>) {
        creation.withLock { $0 = $0 ?? answer }
        creation.signal()
    }

    private func complete(_ message: inout MessageReader) throws(ConnectorError) {
        let id = try message.integer(UInt64.self)
        let outcome: OperationTable.Outcome =
            try message.bool() ? .success(try message.data()) : .failure(try ConnectorError(&message))
        // A late answer is harmless; the plugin's own mistakes are noticed in the runner, which reports them.
        if environment.operations.complete(id, owner: context.owner, outcome) == .accepted { forget(id) }
    }

    private func forget(_ id: UInt64) {
        _ = state.withLock { $0.pending.removeValue(forKey: id) }
    }

    private func disposed() {
        let (number, isExpected) = state.withLock { ($0.number, $0.isDisposed) }
        guard isExpected else { return context.misbehaved("says that its instance is destroyed, which it is not") }
        runner.remove(number)
        end()
    }

    // MARK: The end of the runner

    /// The runner has ended: nothing that is pending will be answered.
    package func runnerEnded(_ end: RunnerEnd, taken: UInt64) {
        let (pending, isDisposed) = state.withLock { state in
            state.isOver = true
            state.inside = [:]
            defer { state.pending = [:] }
            return (state.pending, state.isDisposed)
        }
        // The gate first, so that whoever learns of a failed call finds the gate failed.
        if !isDisposed {
            let names = Set(pending.values.map(\.name)).sorted().joined(separator: ", ")
            onLoss(end.loss(of: plugin, during: names))
        }
        for (id, call) in pending {
            // A runner may take a call, and end, before the thread that sends it has noted its number.
            let isSent = call.message.map { $0 <= taken } ?? true
            let error = end.error(call.name, plugin: plugin, isSent: isSent)
            environment.operations.complete(id, owner: context.owner, .failure(error))
        }
        settle(.failure(end.error("create", plugin: plugin, isSent: true)))
        if isDisposed { self.end() }
    }

    /// The error of a call that was not sent, because the runner has ended or does not read.
    private func notSent(_ what: String) -> ConnectorError {
        ConnectorError(
            .crashed,
            "\(what): the runner of \(plugin) \(runner.isAlive ? "does not take messages" : "has ended"); "
                + "the call was not sent",
            isRetryable: true
        )
    }
}

extension CallEnvironment {
    /// The time until a deadline, in nanoseconds: processes have no clock in common if a test moves the host's.
    func remaining(until deadline: UInt64) -> UInt64 {
        guard deadline != .max else { return .max }
        let now = clock.now()
        return deadline > now ? deadline - now : 0
    }
}
