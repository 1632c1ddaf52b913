// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import Logging
internal import Synchronization

/// How a gate picks up new secrets.
///
/// The secrets of a generation are one snapshot that never changes. New secrets come with a successor, which takes over
/// once it has opened, so a gate keeps the old key until the vendor accepts the new one.
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
    /// meanwhile.
    func renewedConfigurations(_ renewal: Renewal = .all) -> [GatePlan.InstanceConfiguration] {
        // A command that reads a secret may run long. If a reload switches plans meanwhile, the result belongs to the
        // earlier plan.
        let number = planNumber
        let configurations = plan.renewed(renewal)
        guard let preferred = configurations.first else { return [lastConfiguration] }
        for configuration in configurations { environment.redactor.add(configuration.secrets.values) }
        return storage.withLock { storage in
            guard storage.planNumber == number else { return [storage.configuration] }
            storage.configuration = preferred
            return configurations
        }
    }

    /// Reads the secrets again after the vendor rejected them, and replaces the instance if others work.
    ///
    /// An exclusive plugin closes first, and tries every alternative when it opens again.
    ///
    /// - Parameter isCertain: Whether a proof was rejected. The rejection of a call may concern that call alone, so
    ///   other alternatives are tried, and an exclusive plugin closes, only if a proof is rejected, too.
    func renewAfterRefusal(isCertain: Bool = false) {
        renew { gate in
            let number = gate.planNumber
            let configurations = gate.renewedConfigurations()
            guard let current = gate.storage.withLock({ $0.current }) else { return }
            let others = configurations.filter { $0 != current.configuration }
            guard !others.isEmpty else { return }
            let mayStay = gate.isExclusive || others.count < configurations.count
            if mayStay, !isCertain, current.canProbe {
                guard case .failure(let error) = await current.probe(), error.code == .unauthorized else { return }
            }
            guard !gate.isExclusive else {
                guard gate.planNumber == number else { return }
                gate.logger.warning("gate closes to open with other secrets")
                return await gate.restart()
            }
            for configuration in others {
                if await gate.replace(by: configuration, of: number) { return }
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
            guard !gate.isExclusive, let current = gate.storage.withLock({ $0.current })?.configuration else { return }
            for configuration in configurations.prefix(while: { $0 != current }) {
                guard gate.storage.withLock({ $0.refused.mayTry(configuration) }) else { continue }
                if await gate.replace(by: configuration, of: number) {
                    gate.storage.withLock { $0.refused = RefusedSecrets() }
                    return
                }
                // Otherwise the gate has closed, or has another plan, which says nothing of the secrets.
                let isOver = gate.storage.withLock { storage in
                    guard storage.machine.target == .open, storage.planNumber == number else { return true }
                    storage.refused.add(configuration)
                    return false
                }
                guard !isOver else { return }
                gate.logger.warning("new secrets do not work", metadata: ["waiting for": "the vendor to accept them"])
            }
        }
    }

    /// Picks up changed secret files at once instead of at the next proof or attempt.
    func renewAfterRotation() {
        guard plan.readsFiles || plan.hasAlternatives, target == .open else { return }
        if state == .failed { detach { await $0.retry() } } else { renewAfterProof() }
    }

    /// Runs a renewal, unless another one is running, the gate is not open, or its instance is being replaced.
    private func renew(_ body: @escaping @Sendable (Gate) async -> Void) {
        let begins = storage.withLock { storage in
            guard storage.machine.isProved, !storage.isRenewing, storage.successor == nil else { return false }
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
