// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// A leaf of the tree while the host runs it: a connection to the outside world, with a state and the evidence for it.
///
/// A gate holds a target, at most one current ``Generation`` and at most one successor. To replace is: open the successor, lead
/// calls to it, end the predecessor. What happens next is decided by ``GateStateMachine``; here it is done. Plugin code never runs
/// under the mutex.
final class Gate: CalledGate {
    /// What the gate is made from.
    let plan: GatePlan
    /// What it shares with the other gates.
    let environment: GateEnvironment
    /// What calls pass.
    let door: Door
    /// The host's log, with the gate's path.
    let logger: Logger
    /// Everything that changes.
    let storage: Mutex<Storage>

    /// What a gate remembers.
    struct Storage: ~Copyable {
        /// Decides what happens next.
        var machine: GateStateMachine
        /// What calls go to, once it has opened and until it ends.
        var current: Generation?
        /// What opens, to take the place of the current one.
        var successor: Generation?
        /// What the plugin is configured with, with the secrets that were read last.
        var material: GatePlan.Material
        /// What was proved last.
        var evidence: [Evidence] = []
        /// The bytes that were loaded.
        var content: ImageContent?
        /// What went over HTTP before the current generation ended.
        var counters: HTTPCounters?
        /// When opening began.
        var openStart: UInt64 = 0
        /// How long the last opening took.
        var openDuration: Duration?
        /// Why it is not open, or why the last proof failed.
        var error: ConnectorError?
        /// Since when it has been out of order.
        var outageStart: UInt64?
        /// How often the plugin broke a rule.
        var misbehaviourCount = 0
        /// The next proof, or the next attempt to heal.
        var timer: HostTimer?
        /// When the next attempt is.
        var nextAttempt: Timestamp?
        /// Ends the pause between two attempts.
        var pause: OneShot<Void>?
        /// Arrives when the attempts that are under way have come to an end.
        var settled: OneShot<Void>?
        /// Arrives when the closing that is under way has come to an end.
        var closed: OneShot<Void>?
        /// Whether somebody looks already whether secrets were exchanged.
        var isRenewing = false
    }

    /// Loads and starts nothing.
    init(_ plan: GatePlan, environment: GateEnvironment) {
        self.plan = plan
        self.environment = environment
        door = Door(environment.calls)
        var logger = environment.logger
        logger[metadataKey: "connector"] = "\(plan.path)"
        self.logger = logger
        storage = Mutex(Storage(machine: GateStateMachine(retry: plan.retry), material: plan.material))
    }

    /// Its place in the tree.
    var path: String { plan.path }

    /// What the plugin says of itself; nil if none could be found.
    var manifest: Manifest? { try? plan.plugin.get().manifest }

    /// How it stands.
    var state: GateState { storage.withLock { $0.machine.state } }

    /// Why no call may pass.
    var refusal: ConnectorError {
        let (state, error) = storage.withLock { ($0.machine.state, $0.error) }
        return ConnectorError(
            .notOpen,
            "the gate \(state == .failed ? "has failed" : "is \(state.rawValue)")",
            fix: state == .closed && error == nil ? "open the host first" : nil,
            cause: error?.message,
            isRetryable: true
        )
    }

    /// The error of a call as it may be shown: with the gate's path, and without secrets.
    ///
    /// One that says that the credentials were refused makes the gate look for new ones.
    func described(_ error: ConnectorError) -> ConnectorError {
        if error.code == .unauthorized { renewAfterRefusal() }
        return shown(error)
    }

    /// The error as it may be shown: with the gate's path, and without secrets.
    func shown(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? plan.path
        error.message = environment.redactor.redact(error.message)
        error.cause = error.cause.map(environment.redactor.redact)
        return error
    }

    /// Calls an operation that answers at once, without waiting for anybody.
    ///
    /// - Parameter store: Puts the values in place.
    /// - Returns: The answer; nil, and nothing was called, if the operation answers later, or another call has its turn.
    func callNow(
        _ name: String,
        _ store: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> JSONValue? {
        do throws(ConnectorError) {
            if let answer = try door.callNow(name, store) { return answer }
            guard door.isOpen else { throw refusal }
            return nil
        } catch {
            throw described(error)
        }
    }

    /// Counts a rule of the ABI that the plugin broke, and says so in the log. From any thread.
    func misbehaved(_ what: String) {
        storage.withLock { $0.misbehaviourCount += 1 }
        logger.warning("plugin misbehaved", metadata: ["what": "\(what)"])
        environment.onChange()
    }

    /// Makes a generation with the secrets that were read last; nothing of it runs yet.
    func generation(_ material: GatePlan.Material) -> Generation {
        var plan = plan
        plan.material = material
        return Generation(plan, door: door, environment: environment, logger: logger) { [weak self] in
            self?.misbehaved($0)
        }
    }

    /// Runs something of the gate that nobody waits for.
    func detach(_ body: @escaping @Sendable (Gate) async -> Void) {
        Task(executorPreference: environment.calls.lifecycle) { [weak self] in
            if let self { await body(self) }
        }
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
                plugin: manifest.map {
                    GateReport.PluginIdentity(id: $0.id, version: $0.version, content: storage.content)
                },
                evidence: storage.evidence,
                openDuration: storage.openDuration,
                attempts: storage.machine.attempts,
                nextAttemptAt: storage.nextAttempt,
                error: storage.error,
                capabilities: manifest?.capabilities.reduce(into: [:]) { names, capability in
                    names[capability.id.description] = capability.operations.map(\.name)
                } ?? [:],
                http: (storage.current?.counters ?? storage.counters).flatMap { $0.requests > 0 ? $0 : nil },
                misbehaviourCount: storage.misbehaviourCount
            )
        }
    }
}
