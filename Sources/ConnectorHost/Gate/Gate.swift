// This file is part of the connector-host project.
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

    let environment: GateEnvironment
    private let logger: Logger
    private let storage: Mutex<Storage>

    private struct Storage: ~Copyable {
        var machine: GateStateMachine
        var instance: PluginInstance?
        var manifest: Manifest?
        var sha256: String?
        var evidence: [Evidence] = []
        var openStart: UInt64 = 0
        var openDuration: Duration?
        var error: ConnectorError?
        var misbehaviourCount = 0
        var probe: HostTimer?
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

    // MARK: Opening

    /// Tries to open until it works, fails for good, or the deadline passes.
    ///
    /// - Parameter deadline: On the clock's monotonic time; no attempt lasts longer or starts later.
    func open(by deadline: UInt64 = .max) async {
        let clock = environment.clock
        var action = storage.withLock { storage in
            let action = storage.machine.open()
            if action != .nothing {
                storage.openStart = clock.now()
                storage.openDuration = nil
                storage.error = nil
            }
            return action
        }
        environment.onChange()
        while true {
            switch action {
            case .attempt: break
            case .attemptWithin(let bound):
                await environment.sleep(.nanoseconds(Int64(clamping: environment.jitter(bound.nanoseconds))))
            case .attemptAfter(let wait): await environment.sleep(wait)
            case .prove:
                scheduleProbe()
                return
            case .nothing: return
            }
            action = await attempt(by: deadline)
            environment.onChange()
        }
    }

    /// Makes an instance and opens it; what fails leaves nothing behind.
    private func attempt(by deadline: UInt64) async -> GateStateMachine.OpenAction {
        guard storage.withLock({ $0.machine.state == .opening }) else { return .nothing }
        let start = environment.clock.now()
        let result: Result<(PluginInstance, [Evidence]), ConnectorError>
        switch plan.plugin {
        case .failure(let error): result = .failure(error)
        case .success(let candidate):
            let attempt = OpenAttempt(environment: environment, plan: plan, logger: logger) { [weak self] in
                self?.misbehaved($0)
            }
            result = await attempt.run(candidate, by: min(deadline, environment.deadline(after: plan.timeout)))
        }
        return finish(result, startedAt: start, deadline: deadline)
    }

    private func finish(
        _ result: Result<(PluginInstance, [Evidence]), ConnectorError>,
        startedAt start: UInt64,
        deadline: UInt64
    ) -> GateStateMachine.OpenAction {
        let now = environment.clock.now()
        var unwanted: PluginInstance?
        let action = storage.withLock { storage in
            storage.openDuration = .nanoseconds(Int64(clamping: now - storage.openStart))
            switch result {
            case .success((let instance, let evidence)):
                let action = storage.machine.openSucceeded()
                guard action == .prove else {
                    unwanted = instance
                    return action
                }
                storage.instance = instance
                storage.sha256 = instance.plugin.sha256
                storage.evidence = evidence
                storage.error = nil
                return action
            case .failure(var error):
                if now >= deadline { error.isRetryable = false }
                storage.error = described(error)
                return storage.machine.openFailed(error)
            }
        }
        unwanted?.dispose()
        switch result {
        case .success(let (_, evidence)):
            logger.debug("gate opened", metadata: ["evidence": "\(evidence.last?.kind.rawValue ?? "")"])
        case .failure(let error):
            logger.debug("attempt to open failed", metadata: ["error": "\(described(error))"])
        }
        return action
    }

    /// The error as it may be shown: with the gate's path, and without secrets.
    func described(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? plan.path
        error.message = environment.redactor.redact(error.message)
        error.cause = error.cause.map(environment.redactor.redact)
        return error
    }

    // MARK: Proving

    private func scheduleProbe() {
        guard let interval = plan.probeInterval else { return }
        let timer = environment.clock.schedule(after: interval.nanoseconds) { [weak self] in
            guard let self else { return }
            Task { await self.probe() }
        }
        let isProved = storage.withLock { storage in
            storage.probe = timer
            return storage.machine.isProved
        }
        if !isProved { environment.clock.cancel(timer) }
    }

    /// Proves once that the outside world is still there, then again after the interval.
    func probe() async {
        guard let instance = storage.withLock({ $0.machine.isProved ? $0.instance : nil }) else { return }
        let start = environment.clock.now()
        let deadline = environment.deadline(after: plan.timeout)
        let outcome = await environment.call(
            "probe",
            owner: instance.context.owner,
            deadline: deadline,
            { instance.begin(.probe, operation: $0, deadline: deadline) },
            onDeadline: { instance.cancel($0) }
        )
        let result = outcome.flatMap { text in readEvidence(text, startedAt: start) }
        storage.withLock { storage in
            switch result {
            case .success(let evidence):
                storage.machine.probeSucceeded()
                storage.evidence = evidence.isEmpty ? storage.evidence : evidence
                storage.error = nil
            case .failure(let error):
                storage.machine.probeFailed()
                storage.error = described(error)
            }
        }
        if case .failure(let error) = result {
            logger.warning("probe failed", metadata: ["error": "\(described(error))"])
        }
        environment.onChange()
        scheduleProbe()
    }

    private func readEvidence(_ text: [UInt8], startedAt start: UInt64) -> Result<[Evidence], ConnectorError> {
        environment.evidence(in: text, startedAt: start)
    }

    // MARK: Closing

    /// Disconnects and frees the instance; calls that are still pending end with `not-open`.
    func close() async {
        let (mustClose, instance, probe) = storage.withLock { storage in
            (storage.machine.close(), storage.instance.take(), storage.probe.take())
        }
        if let probe { environment.clock.cancel(probe) }
        guard mustClose else { return }
        environment.onChange()
        if let instance {
            let deadline = environment.deadline(after: plan.timeout)
            await instance.drain(by: deadline)
            environment.operations.completeAll(
                owner: instance.context.owner,
                ConnectorError(.notOpen, "the gate closed", connector: plan.path)
            )
            let outcome = await environment.call(
                "close",
                owner: instance.context.owner,
                deadline: deadline,
                { instance.begin(.close, operation: $0, deadline: deadline) },
                onDeadline: { instance.cancel($0) }
            )
            if case .failure(let error) = outcome {
                logger.warning("close failed", metadata: ["error": "\(described(error))"])
            }
            await instance.disposed()
        }
        storage.withLock { storage in
            storage.machine.closed()
            storage.evidence = []
        }
        environment.onChange()
    }

    // MARK: Reporting

    /// What the plugin says of itself; nil if none could be found.
    var manifest: Manifest? { try? plan.plugin.get().manifest }

    /// The instance that calls go to, and what to say if they cannot.
    var usable: (instance: PluginInstance?, state: GateState, error: ConnectorError?) {
        storage.withLock { ($0.instance, $0.machine.state, $0.error) }
    }

    /// Counts a rule of the ABI that the plugin broke, and says so in the log. From any thread.
    private func misbehaved(_ what: String) {
        storage.withLock { $0.misbehaviourCount += 1 }
        logger.warning("plugin misbehaved", metadata: ["what": "\(what)"])
        environment.onChange()
    }

    /// How the gate stands now.
    var report: GateReport {
        storage.withLock { storage in
            GateReport(
                path: plan.path,
                state: storage.machine.state,
                target: storage.machine.target,
                isRequired: plan.isRequired,
                policy: nil,
                plugin: storage.manifest.map {
                    GateReport.PluginIdentity(id: $0.id, version: $0.version, sha256: storage.sha256)
                },
                evidence: storage.evidence,
                openDuration: storage.openDuration,
                attempts: storage.machine.attempts,
                error: storage.error,
                capabilities: storage.manifest.map { manifest in
                    Dictionary(
                        manifest.capabilities.map { ($0.id.description, $0.operations.map(\.name)) },
                        uniquingKeysWith: { first, _ in first }
                    )
                } ?? [:],
                http: storage.instance?.services.counters,
                misbehaviourCount: storage.misbehaviourCount
            )
        }
    }
}
