// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// One instance of a gate's plugin and its resources: services, host context, channel, and its seat at the gate's
/// rundown guard.
///
/// The gate owns it, opens it once, and ends it once with ``end()``, in any state. Further callers of `end` await the
/// same end.
///
/// ```
/// made ──open──► loading ──► created ──► open ──receiveCalls──► receiving calls
///   └───────────────┴───────────┴─────────┴──────────────────────────┴──end──► ended
/// ```
final class Generation: Sendable {
    let dependencies: GateDependencies
    let plan: GatePlan
    let rundown: RundownGuard
    let logger: Logger
    let services: GateServices
    let context: HostContext
    let state = Mutex(State())
    /// Sent when `create` has returned, if it is called at all.
    let created = OneShot<Void>()
    /// Sent when the thread that creates and opens the instance is free again.
    let returned = OneShot<Void>()
    /// Called if the instance is lost with its runner; must not retain the gate.
    let onLoss: @Sendable (Generation, ConnectorError) -> Void
    /// Whether the instance is to be a standby, which never shares the runner of the current one.
    let isStandby: Bool
    let ended = OneShot<Void>()

    struct State {
        /// What the plugin is running on the thread that creates and opens the instance; nil once that thread is free.
        var step: Step?
        /// Whether the plugin still blocked that thread at the deadline.
        var isOverdue = false
        /// Whether a thread is loading the plugin or creating the instance.
        var isCreating = false
        /// The instance's channel; nil before `create` returns, and if it fails.
        var channel: (any Channel)?
        /// The operation that completes when the plugin has opened.
        var opening: UInt64?
        /// The strongest evidence that the instance has given.
        var strongestProof: Evidence.Kind?
        /// Whether the plugin's `open` was called, and may complete.
        var hasBegun = false
        var hasOpened = false
        /// The seat at the rundown guard, where callers are counted.
        var seat: Int?
        /// Whether the instance is in a runner.
        var isRemote = false
        /// The channel to the instance in the runner, also before `create` has returned; nil before there is a runner.
        var remoteChannel: RemoteChannel?
        /// The libraries beside the image that the runner was handed.
        var libraries: [LibraryBeside] = []
        /// Why the instance is in a runner although the plugin could run in this process; nil unless a crash is the
        /// reason.
        var promotion: Promotion?
        /// The mark that the plugin is being opened in this process.
        var mark: MarkFile?
        /// Whether the mark stays until the thread that creates and opens the instance is free.
        var keepsMark = false
        /// Which of the plugin's two possible runners the instance is in, or is to be.
        var replica = RunnerPool.Replica.first
        /// Why the instance is lost with its runner.
        var loss: ConnectorError?
        /// Whether the gate is ending the instance.
        var isEnding = false
        /// Whether calls in flight may no longer finish.
        var isCut = false
        /// The timeout of a proof and of closing; nil for the plan's.
        var timeout: Duration?
        /// Whether `create` is no longer awaited: its thread then destroys the instance itself.
        var isAbandoned = false
    }

    /// What the plugin is running on the thread that creates and opens its instance.
    enum Step: String {
        /// The image's constructors or entry function, or a wait for the dynamic linker.
        case load = "a constructor, or the entry function"
        case create
        case open
    }

    /// Prepares the services lent to the plugin, without running plugin code.
    ///
    /// - Parameters:
    ///   - plan: The leaf to open, with current secrets.
    ///   - replica: Which of two runners a remote instance opens in, if there is room for it.
    ///   - isStandby: Whether it opens there or nowhere.
    ///   - rundown: Admits and counts calls.
    ///   - onMisbehaviour: Called for each violation of the ABI; must not retain the gate.
    ///   - onLoss: Called if the instance is lost with its runner; must not retain the gate.
    init(
        _ plan: GatePlan,
        in replica: RunnerPool.Replica,
        isStandby: Bool,
        rundown: RundownGuard,
        dependencies: GateDependencies,
        logger: Logger,
        onMisbehaviour: @escaping @Sendable (String) -> Void,
        onLoss: @escaping @Sendable (Generation, ConnectorError) -> Void
    ) {
        self.onLoss = onLoss
        self.isStandby = isStandby
        self.plan = plan
        self.rundown = rundown
        self.dependencies = dependencies
        self.logger = logger
        let manifest = try? plan.plugin.get().manifest
        services = GateServices(
            host: dependencies.services,
            context: GateServices.Context(
                path: plan.path,
                services: manifest.map { $0.requiredServices + $0.optionalServices } ?? [],
                egress: plan.configuration.egress.map(\.description),
                secret: { [secrets = plan.configuration.secrets] in secrets[$0]?.reveal() },
                redactor: dependencies.redactor,
                gates: dependencies.uses.gates(manifest?.uses ?? [], plan.uses, of: plan.path, dependencies.calls),
                propagatesTrace: plan.propagatesTrace,
                cacheBytes: plan.cacheBytes,
                recording: plan.recording,
                vendor: plan.vendor,
                logger: logger
            )
        )
        context = HostContext.lend(to: services, onMisbehaviour: onMisbehaviour)
        state.withLock { $0.replica = replica }
        dependencies.generations.add(self)
    }

    deinit { dependencies.generations.remove(self) }

    /// The instance's configuration and secrets.
    var configuration: GatePlan.InstanceConfiguration { plan.configuration }

    /// The timeout of a proof and of closing, which a reload may change.
    var timeout: Duration { state.withLock(\.timeout) ?? plan.timeout }

    /// Sets the timeout of later proofs and of closing.
    func use(timeout: Duration) {
        state.withLock { $0.timeout = timeout }
    }

    /// The plugin's id and version.
    var plugin: String { (try? plan.plugin.get().manifest).map { "\($0.id) \($0.version)" } ?? "" }

    /// The plugin's functions currently running on threads of the host.
    var functionsInside: [PluginFunction] {
        let (step, isOverdue, channel) = state.withLock { ($0.step, $0.isOverdue, $0.channel) }
        var functions = channel?.functionsInside ?? []
        if let step {
            functions.removeAll { $0.name == step.rawValue }
            var function = PluginFunction(step.rawValue)
            function.isOverdue = isOverdue
            functions.append(function)
        }
        if services.isInCallback { functions.append(PluginFunction(PluginFunction.callback)) }
        return functions
    }

    /// HTTP traffic so far.
    var counters: HTTPCounters { services.counters }

    /// Whether the plugin can be probed.
    var canProbe: Bool { state.withLock(\.channel)?.canProbe ?? false }

    /// How well the runner's sandbox holds; nil for an instance in this process, and before there is a runner.
    var sandbox: String? { state.withLock(\.remoteChannel).map { dependencies.redactor.redact($0.runner.evidence) } }

    /// Whether the instance is in a runner, and why, if a crash is the reason.
    var isolation: (isRemote: Bool, promotion: Promotion?) { state.withLock { ($0.isRemote, $0.promotion) } }

    /// The number of the runner's process; nil for an instance in this process, and before there is a runner.
    var runner: Int32? { state.withLock(\.remoteChannel)?.runner.processNumber }

    /// Which of the plugin's two possible runners the instance is in, or is to be.
    var replica: RunnerPool.Replica { state.withLock(\.replica) }

    /// The loaded bytes.
    var content: ImageContent? { state.withLock(\.channel)?.content }

    /// Whether libraries beside the image have changed since a runner was handed them.
    var hasOtherLibraries: Bool { !state.withLock(\.libraries).allSatisfy(\.isCurrent) }

    // MARK: Proofs

    /// The strongest evidence that the instance has given; nil before it is open.
    var strongestProof: Evidence.Kind? { state.withLock(\.strongestProof) }

    /// Remembers what the instance has proved.
    func note(_ evidence: [Evidence]) {
        guard let kind = evidence.last?.kind else { return }
        state.withLock { $0.strongestProof = max($0.strongestProof ?? kind, kind) }
    }

    /// Proves once that the outside world still answers.
    func probe() async -> Result<[Evidence], ConnectorError> {
        guard let channel = state.withLock(\.channel) else { return .failure(.gateClosed(plan.path)) }
        let start = dependencies.clock.now()
        services.proofBegins()
        defer { services.proofEnds() }
        let result = await run(.probe, on: channel).flatMap {
            dependencies.evidence(in: $0, of: .probe, isForeign: channel.isForeign, startedAt: start)
        }
        if case .success(let evidence) = result { note(evidence) }
        return result
    }

    /// Runs a phase of the instance's life cycle.
    ///
    /// - Parameter deadline: In the clock's monotonic time; nil for now plus the gate's timeout.
    func run(
        _ phase: InstancePhase,
        on channel: any Channel,
        by deadline: UInt64? = nil
    ) async -> OperationTable.Outcome {
        let start = dependencies.clock.now()
        let deadline = deadline ?? dependencies.deadline(after: timeout)
        return await dependencies.calls.run(
            overdue: { [plugin] operation in
                let name = phase.rawValue
                guard channel.hasTaken(operation) else { return .arriving(of: name) }
                guard channel.functionsInside.contains(where: { $0.name == name }) else {
                    let work = channel.pendingWork(for: operation, during: min(start, deadline)...deadline)
                    return .completion(of: name, awaiting: work)
                }
                let function = PluginFunction(name, isForeign: channel.isForeign)
                return .returning(from: function, of: plugin, on: channel.instance == nil ? .runner : .host)
            },
            owner: context.owner,
            by: deadline,
            onDeadline: { channel.cancel($0) },
            { channel.begin(phase, operation: $0, deadline: deadline) }
        )
    }
}
