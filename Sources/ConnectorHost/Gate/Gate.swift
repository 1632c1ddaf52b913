// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// A leaf of the tree at run time: a connection to the outside world, with a state and evidence for it.
///
/// A gate has a target and at most one current ``Generation``. It replaces its instance by opening another beside it,
/// directing calls to that one, and ending the earlier one. ``GateStateMachine`` decides each step; the gate carries it
/// out. Plugin code never runs under the mutex.
///
/// ``Storage`` has a place for each purpose of a generation, and this is what moves one from place to place:
///
/// - `current` receives calls: ``RundownGuard`` directs them to its *seat*, where it counts them.
/// - `opening` opens to receive them under the gate's plan: by an attempt, or by a renewal, which *replaces* the current one.
/// - `successor` opens, or has opened, under the plan of a reload, which *switches over* to it.
/// - `standby.opening` and `standby.ready` are there for the loss of the current one's runner: they *take over*. An instance and its
///   standby, or its successor, are in different *replicas* of the plugin's runner.
/// - `predecessor` receives calls again if the current one fails its trial, and the gate *rolls back*.
/// - `draining` receive no more calls, and end.
/// - `held` have failed to open, and their plugin still blocks the thread that opened them.
///
/// A successor, a renewal and a standby open beside the current one, in a ``Role``. Once one has reserved its seat it is a
/// ``ReadyGeneration``: directing calls to it can no longer fail, and ``Storage/install(_:_:)`` makes it the current one.
final class Gate: CalledGate {
    /// The gate's path in the tree.
    let path: String
    /// The leaf to open, until a reload brings another plan.
    let planned: Mutex<GatePlan>
    /// Whether the plan records the gate. For a gate that is not recorded, reading this is the only cost to a call.
    let isRecorded: Atomic<Bool>
    /// Services shared by all gates of the host.
    let dependencies: GateDependencies
    /// Admits and counts calls.
    let rundown: RundownGuard
    /// Refuses calls while they would fail.
    let breaker: CircuitBreaker
    /// The monotonic time until which the vendor has asked for no delivery; 0 if it has not.
    let pausedUntil = Atomic<UInt64>(0)
    /// The typed handles that the application holds.
    let typedHandles = TypedHandles()
    /// The host's logger, tagged with the gate's path.
    let logger: Logger
    /// All mutable state.
    let storage: Mutex<Storage>

    /// The mutable state of a gate.
    struct Storage: ~Copyable {
        /// Decides each step.
        var machine: GateStateMachine
        /// The generation that receives calls.
        var current: Generation?
        /// Which of its plugin's two runners an instance opens in if there is no current one.
        var firstReplica = RunnerPool.Replica.first
        /// The generation that an attempt or a renewal is opening, to take the current one's place.
        var opening: Generation?
        /// The generation that a reload has opened beside the current one, or is opening.
        var successor: Generation?
        /// The generation that takes over when the current one's runner ends.
        var standby = Standby()
        /// The generation to go back to while the current one is on trial.
        var predecessor: ReadyGeneration?
        /// Earlier generations whose calls have not all ended, the oldest first.
        var draining: [Generation] = []
        /// How many generations have received calls.
        var generationCount: UInt64 = 0
        /// How many different plans the gate has had, so that a generation of an earlier one is not put into use.
        var planNumber = 1
        /// Whether the current generation is of an earlier plan, and is to be replaced by one of the plan: see
        /// ``Gate/replaceOutdated()``.
        var isOutdated = false
        /// How many plans the gate has adopted that needed another instance than the one before.
        var replacementCount: UInt64 = 0
        /// Whether a reload has removed the gate from the tree.
        var isRemoved = false
        /// Whether the gate has closed with its host.
        var hostHasClosed: Bool { machine.isRetired && !isRemoved && machine.state == .closed }
        /// Generations of failed attempts whose plugin may still block the thread that opened it.
        var held: [Generation] = []
        /// The plugin's configuration and secrets, as last read; the current generation may use others.
        var configuration: GatePlan.InstanceConfiguration
        /// The secrets that the vendor refused, and when each is tried again.
        var refused = RefusedSecrets()
        /// Why secrets could not be read, or a preferred one; nil if they could.
        var secretFault: SecretFault?
        /// When a refused call may make the gate read its secrets again.
        var renewalPace = RenewalPace()
        /// What has happened so far.
        var history = GateHistory()
        /// The simulated events that wait for the gate to open for the first time.
        var early: [ConnectorEvent] = []
        /// The timer of the next proof or healing attempt.
        var timer: HostTimer?
        /// When the next healing attempt begins.
        var nextAttempt: Timestamp?
        /// Sent when the gate closes, to end the pauses between attempts; nil if there was none.
        var pause: OneShot<Void>?
        /// Sent when the attempts in progress have ended.
        var settled: OneShot<Void>?
        /// Sent when the closing in progress has ended.
        var closed: OneShot<Void>?
        /// Whether a check for changed secrets is in progress.
        var isRenewing = false
    }

    /// Creates a closed gate; loads and starts nothing.
    init(_ plan: GatePlan, dependencies: GateDependencies) {
        path = plan.path
        planned = Mutex(plan)
        isRecorded = Atomic(plan.recording != nil)
        self.dependencies = dependencies
        rundown = RundownGuard(dependencies.calls)
        breaker = CircuitBreaker(plan.breaker)
        var logger = dependencies.logger
        logger[metadataKey: "connector"] = "\(plan.path)"
        self.logger = logger
        storage = Mutex(
            Storage(
                machine: GateStateMachine(retry: plan.retry),
                configuration: plan.configuration,
                secretFault: plan.fault
            )
        )
    }

    /// Ends the instance of a gate that was never closed before its host and clients were released.
    deinit {
        rundown.shut()
        let generations = storage.withLock { storage in
            stopTimer(&storage)
            let generations = storage.removeGenerations() + storage.standby.removeGenerations(dependencies.clock)
            return generations + storage.draining
        }
        for generation in generations {
            Task(executorPreference: dependencies.calls.gateThreads) { await generation.end() }
        }
    }

    /// The leaf to open. Do not read it while the storage is locked.
    var plan: GatePlan { planned.withLock(\.self) }

    /// The plugin's manifest; nil if no plugin was found.
    var manifest: Manifest? { planned.withLock(\.manifest) }

    /// The state as the report shows it.
    var state: GateState { storage.withLock { $0.machine.state } }

    /// The state last requested: open or closed.
    var target: GateState { storage.withLock { $0.machine.target } }

    /// How many plans the gate has adopted that needed another instance than the one before.
    var replacementCount: UInt64 { storage.withLock { $0.replacementCount } }

    /// The manifests of the generations that receive calls, or may do so although the gate adopts no other plan.
    var callableManifests: [Manifest] {
        storage.withLock { storage in
            [storage.current, storage.predecessor?.generation, storage.standby.ready?.generation]
                .compactMap { $0?.plan.manifest }
        }
    }

    /// The loaded bytes; nil if the gate has loaded none.
    var content: ImageContent? { storage.withLock { $0.history.content } }

    /// Whether libraries beside the image have changed since the current instance's runner was handed them.
    var hasOtherLibraries: Bool { storage.withLock { $0.current }?.hasOtherLibraries ?? false }

    /// The secrets that the current instance uses, or that the next one will.
    var secrets: [String: Secret] {
        storage.withLock { $0.current?.configuration.secrets ?? $0.configuration.secrets }
    }

    /// The error of a call the gate rejects.
    var refusal: ConnectorError {
        let (state, error, isRemoved, hostHasClosed) = storage.withLock {
            ($0.machine.state, $0.history.error, $0.isRemoved, $0.hostHasClosed)
        }
        if hostHasClosed { return .hostClosed }
        guard !isRemoved else {
            return ConnectorError(
                .unknownConnector,
                "the connector is no longer in the configuration",
                fix: "call another connector, or add this one to the file again"
            )
        }
        return ConnectorError(
            .notOpen,
            "the gate \(state == .failed ? "has failed" : "is \(state.rawValue)")",
            fix: state == .closed && error == nil ? Report.openFirst : error?.fix,
            cause: error?.asCause,
            isRetryable: true
        )
    }

    /// Prepares a call's error for the caller: adds the gate's path and, unless the caller is a plugin, redacts secrets.
    ///
    /// An `unauthorized` error also makes the gate read its secrets again.
    func described(_ error: ConnectorError, isForPlugin: Bool) -> ConnectorError {
        if error.code == .unauthorized { renewAfterRefusal() }
        return isForPlugin ? named(error) : shown(error)
    }

    /// Adds the gate's path to an error, and redacts secrets.
    func shown(_ error: ConnectorError) -> ConnectorError { dependencies.redactor.redact(named(error)) }

    private func named(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? path
        return error
    }

    /// Counts and logs a violation of the ABI, or of the rules of a capability. Call it from any thread.
    func misbehaved(_ what: String) {
        let now = dependencies.clock.now()
        let leftOut = storage.withLock { $0.history.misbehaved(what.utf8.count, at: now) }
        if let leftOut {
            var metadata: Logger.Metadata = ["what": "\(dependencies.redactor.redact(what))"]
            if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
            logger.warning("plugin misbehaved", metadata: metadata)
        }
        dependencies.onChange()
    }

    /// Creates a generation without running plugin code.
    func generation(_ configuration: GatePlan.InstanceConfiguration) -> Generation {
        generation(of: plan.with(configuration))
    }

    /// Creates a generation of a plan without running plugin code.
    ///
    /// If there is a current generation, an isolated plugin's instance opens in the other one of its two runners, so that
    /// what it does there costs neither the instance that receives calls nor the calls in flight.
    func generation(of plan: GatePlan, isStandby: Bool = false) -> Generation {
        Generation(
            plan.withoutRenewal,
            in: storage.withLock { $0.replicaBeside },
            isStandby: isStandby,
            rundown: rundown,
            dependencies: dependencies,
            logger: logger
        ) { [weak self] in
            self?.misbehaved($0)
        } onLoss: { [weak self] generation, error in
            self?.lost(generation, error)
        }
    }

    /// Runs work that no caller awaits.
    func detach(_ body: @escaping @Sendable (Gate) async -> Void) {
        Task(executorPreference: dependencies.calls.gateThreads) { [weak self] in
            if let self { await body(self) }
        }
    }
}
