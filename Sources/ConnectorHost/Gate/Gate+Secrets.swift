// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import Logging
internal import Synchronization

/// How a gate picks up new secrets.
///
/// The secrets of a generation are one snapshot that never changes. New secrets come with another generation, which
/// takes over once it proves as much as the current one, so a gate keeps the old key until the vendor accepts the new
/// one.
extension Gate {
    /// The plugin's configuration and secrets, as last read.
    var lastConfiguration: GatePlan.InstanceConfiguration { storage.withLock { $0.configuration } }

    /// The number of the gate's plan.
    var planNumber: Int { storage.withLock { $0.planNumber } }

    /// Whether no second instance can be open beside the current one.
    private var isExclusive: Bool { plan.manifest?.isExclusive ?? false }

    /// Reads the secrets again and returns a configuration for each alternative, the preferred one first.
    ///
    /// Returns the last known configuration if the secrets cannot be read, or if the gate adopts another plan
    /// meanwhile. The log and the report say why.
    func renewedConfigurations(_ renewal: Renewal = .all) -> [GatePlan.InstanceConfiguration] {
        // A command that reads a secret may run long. If a reload switches plans meanwhile, the result belongs to the
        // earlier plan.
        let number = planNumber
        let renewed = plan.renewed(renewal)
        var fault = renewed.fault
        if let error = fault?.error { fault?.error = shown(error) }
        hide(renewed.alternatives)
        let preferred = renewed.alternatives.first
        let (isOfPlan, before, after) = storage.withLock { [fault] storage -> (Bool, SecretFault?, SecretFault?) in
            let before = storage.secretFault
            guard storage.planNumber == number else { return (false, before, before) }
            if let preferred { storage.configuration = preferred }
            if let fault {
                storage.secretFault = fault
            } else if preferred != nil, renewal == .all || before?.isOfCommand != true {
                storage.secretFault = nil
            }
            return (true, before, storage.secretFault)
        }
        if before?.warning != after?.warning {
            if let after {
                logger.warning("secrets cannot be read", metadata: ["error": "\(after.error)"])
            } else {
                logger.info("secrets can be read again")
            }
            dependencies.onChange()
        }
        return isOfPlan && preferred != nil ? renewed.alternatives : [lastConfiguration]
    }

    /// Lets the redactor hide secrets that were read, and go on hiding those that are in use.
    private func hide(_ configurations: [GatePlan.InstanceConfiguration]) {
        let generations = storage.withLock { storage in
            [
                storage.current, storage.opening, storage.successor, storage.predecessor?.generation,
                storage.standby.ready?.generation,
            ]
        }
        for configuration in configurations + generations.compactMap({ $0?.configuration }) {
            dependencies.redactor.add(configuration.secrets, of: path)
        }
    }

    /// Reads the secrets again after the vendor rejected them, and replaces the instance if others work.
    ///
    /// An exclusive plugin closes first, and tries every alternative when it opens again. Once a proof is rejected,
    /// secrets that prove less than the current ones did are good enough. While calls go on being refused, the secrets are
    /// read at growing intervals.
    ///
    /// - Parameter isCertain: Whether a proof was rejected. The rejection of a call may concern that call alone, so
    ///   other alternatives are tried, and an exclusive plugin closes, only if a proof is rejected, too.
    func renewAfterRefusal(isCertain: Bool = false) {
        let now = dependencies.clock.now()
        renew(if: { $0.renewalPace.begins(at: now, isCertain: isCertain) }) { gate in
            let number = gate.planNumber
            let configurations = gate.renewedConfigurations()
            guard let current = gate.storage.withLock({ $0.current }) else { return }
            let others = configurations.filter { $0 != current.configuration }
            guard !others.isEmpty else { return }
            let mayStay = gate.isExclusive || others.count < configurations.count
            var isCertain = isCertain
            if mayStay, !isCertain, current.canProbe {
                guard case .failure(let error) = await current.probe(), error.code == .unauthorized else { return }
                isCertain = true
            }
            guard !gate.isExclusive else {
                guard gate.planNumber == number else { return }
                gate.logger.warning("gate closes to open with other secrets")
                return await gate.restart()
            }
            for configuration in others {
                // If the current instance no longer works, whatever does is better, although it proves less.
                if case .success = await gate.replace(by: configuration, of: number, acceptsWeaker: isCertain) {
                    return
                }
            }
        }
    }

    /// Reads the secrets again after a scheduled proof, and replaces the instance if preferred ones work.
    ///
    /// Commands that read secrets do not run for this. Secrets that the vendor refused are tried again at growing
    /// intervals. An exclusive plugin keeps secrets that work: trying others would close it.
    func renewAfterProof() {
        guard plan.readsFiles || plan.hasAlternatives else { return }
        renew { gate in
            let number = gate.planNumber
            let configurations = gate.renewedConfigurations(.files)
            guard !gate.isExclusive, let current = gate.storage.withLock({ $0.current }) else { return }
            for configuration in configurations.prefix(while: { $0 != current.configuration }) {
                guard gate.storage.withLock({ $0.refused.mayTry(configuration) }) else { continue }
                guard case .failure(let error) = await gate.replace(by: configuration, of: number) else {
                    return gate.storage.withLock { $0.refused = RefusedSecrets() }
                }
                // Otherwise the gate closes, or has another plan or instance, which says nothing of the secrets.
                let isOver = gate.storage.withLock { storage in
                    guard storage.machine.target == .open, storage.planNumber == number, storage.current === current
                    else { return true }
                    storage.refused.add(configuration)
                    return false
                }
                guard !isOver else { return }
                gate.logger.warning(
                    "new secrets do not work",
                    metadata: ["error": "\(error)", "waiting for": "the vendor to accept them"]
                )
            }
        }
    }

    /// Picks up changed secret files at once instead of at the next proof or attempt.
    func renewAfterRotation() {
        guard plan.readsFiles || plan.hasAlternatives, target == .open else { return }
        if state == .failed { detach { await $0.retry() } } else { renewAfterProof() }
    }

    /// Runs a renewal, unless another one is running, the gate is not open, or its instance is being replaced.
    ///
    /// - Parameter mayBegin: Asked last, under the lock of the storage.
    private func renew(
        if mayBegin: @Sendable (inout Storage) -> Bool = { _ in true },
        _ body: @escaping @Sendable (Gate) async -> Void
    ) {
        let begins = storage.withLock { storage in
            guard storage.machine.isProved, !storage.isRenewing, storage.opening == nil, mayBegin(&storage) else {
                return false
            }
            storage.isRenewing = true
            return true
        }
        guard begins else { return }
        detach { gate in
            await body(gate)
            gate.storage.withLock { $0.isRenewing = false }
            gate.replaceOutdated()
        }
    }
}
