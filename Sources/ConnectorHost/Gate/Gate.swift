// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging
internal import Synchronization

/// A leaf of the tree while the host runs it: a connection to the outside world, with a state and the evidence for it.
///
/// What happens next is decided by ``GateStateMachine``; here it is done. Plugin code never runs under the mutex.
final class Gate: Sendable {
    /// What the gate is made from.
    let plan: GatePlan
    /// What it shares with the other gates.
    let environment: GateEnvironment
    /// The host's log, with the gate's path.
    let logger: Logger
    /// Everything that changes.
    let storage: Mutex<Storage>
    /// The address of the ``HostContext`` of the instance that calls go to, which is never freed; 0 if none may pass.
    private let entrance = Atomic<UInt>(0)

    /// What a gate remembers.
    struct Storage: ~Copyable {
        /// Decides what happens next.
        var machine: GateStateMachine
        /// What calls go to, once it has opened and until it closes.
        var instance: PluginInstance?
        /// What the plugin says of itself.
        var manifest: Manifest?
        /// The bytes that were loaded.
        var content: ImageContent?
        /// What was proved last.
        var evidence: [Evidence] = []
        /// When opening began.
        var openStart: UInt64 = 0
        /// How long the last opening took.
        var openDuration: Duration?
        /// Why it is not open, or why the last proof failed.
        var error: ConnectorError?
        /// How often the plugin broke a rule.
        var misbehaviourCount = 0
        /// The next proof.
        var probe: HostTimer?
        /// The attempt to open that is under way.
        var attempt: OpenAttempt?
        /// Ends the pause between two attempts.
        var pause: Pause?
        /// Those who want the gate open while it opens already, and the round that they wait for.
        var followers: [(round: Int, pause: Pause)] = []

        /// Those who wait for a round, which is over.
        mutating func takeFollowers(of round: Int) -> [Pause] {
            guard !followers.isEmpty else { return [] }
            defer { followers.removeAll { $0.round == round } }
            return followers.compactMap { $0.round == round ? $0.pause : nil }
        }
    }

    /// Loads and starts nothing.
    init(_ plan: GatePlan, environment: GateEnvironment) {
        self.plan = plan
        self.environment = environment
        var logger = environment.logger
        logger[metadataKey: "connector"] = "\(plan.path)"
        self.logger = logger
        var storage = Storage(machine: GateStateMachine(retry: plan.retry))
        if case .success(let candidate) = plan.plugin { storage.manifest = candidate.manifest }
        self.storage = Mutex(storage)
    }

    /// What the plugin says of itself; nil if none could be found.
    var manifest: Manifest? { try? plan.plugin.get().manifest }

    /// The instance that calls go to, and what to say if they cannot.
    var usable: (instance: PluginInstance?, state: GateState, error: ConnectorError?) {
        storage.withLock { ($0.instance, $0.machine.state, $0.error) }
    }

    /// Lets an operation in if nobody has to wait for that, without a lock.
    ///
    /// - Returns: The right to be inside, to be ended exactly once; nil if no call may pass, or a `serial` gate is taken.
    func admitNow() -> Admission? {
        guard let context = unsafe UnsafeRawPointer(bitPattern: entrance.load(ordering: .acquiring)) else { return nil }
        return unsafe Unmanaged<HostContext>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.admitNow() }
    }

    /// Changes what the gate remembers, and lets calls pass, or not, as the new state says.
    func change<Result>(_ body: (inout Storage) -> Result) -> Result {
        storage.withLock { storage in
            defer {
                let instance = storage.machine.state.isUsable ? storage.instance : nil
                let address = instance.map { UInt(bitPattern: unsafe Unmanaged.passUnretained($0.context).toOpaque()) }
                entrance.store(address ?? 0, ordering: .releasing)
            }
            return body(&storage)
        }
    }

    /// The error as it may be shown: with the gate's path, and without secrets.
    func described(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? plan.path
        error.message = environment.redactor.redact(error.message)
        error.cause = error.cause.map(environment.redactor.redact)
        return error
    }

    /// Counts a rule of the ABI that the plugin broke, and says so in the log. From any thread.
    func misbehaved(_ what: String) {
        storage.withLock { $0.misbehaviourCount += 1 }
        logger.warning("plugin misbehaved", metadata: ["what": "\(what)"])
        environment.onChange()
    }
}

extension Gate {
    /// How the gate stands now.
    var report: GateReport {
        storage.withLock { storage in
            GateReport(
                path: plan.path,
                state: storage.machine.state,
                target: storage.machine.target,
                policy: nil,
                plugin: storage.manifest.map {
                    GateReport.PluginIdentity(id: $0.id, version: $0.version, content: storage.content)
                },
                evidence: storage.evidence,
                openDuration: storage.openDuration,
                attempts: storage.machine.attempts,
                error: storage.error,
                capabilities: storage.manifest?.capabilities.reduce(into: [:]) { names, capability in
                    names[capability.id.description] = capability.operations.map(\.name)
                } ?? [:],
                http: storage.instance.map(\.services.counters).flatMap { $0.requests > 0 ? $0 : nil },
                misbehaviourCount: storage.misbehaviourCount
            )
        }
    }
}
