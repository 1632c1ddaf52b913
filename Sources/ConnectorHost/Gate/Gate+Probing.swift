// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

extension Gate {
    /// Schedules the next proof, if the gate is open and its plugin can be probed.
    ///
    /// A degraded gate is proved sooner: after the initial healing wait, doubled with each failed proof.
    func scheduleProbe() {
        let plan = plan
        guard let interval = plan.probeInterval else { return }
        storage.withLock { storage in
            guard storage.machine.isProved, storage.current?.canProbe ?? false else { return }
            stopTimer(&storage)
            var wait = interval
            if let proofs = storage.machine.degradedProofs {
                let first = plan.heal?.initial ?? interval
                wait = Backoff(initial: first, maximum: interval).bound(after: proofs)
            }
            storage.timer = dependencies.clock.schedule(after: wait.nanoseconds) { [weak self] in
                self?.detach { await $0.probe() }
            }
        }
    }

    /// Proves that the outside world still answers, then schedules the next proof.
    ///
    /// - Parameter isScheduled: False for a proof requested by an operator. If it fails, the gate degrades but does not
    ///   fail, and the schedule of proofs is unchanged.
    func probe(isScheduled: Bool = true) async {
        let generation = storage.withLock { storage -> Generation? in
            guard storage.machine.isProved else { return nil }
            if isScheduled { stopTimer(&storage) }
            return storage.current
        }
        guard let generation else { return }
        let result = await generation.probe()
        if case .failure(let error) = result, rollBack(from: generation, shown(error)) { return }
        let now = dependencies.clock.now()
        let action = storage.withLock { storage -> GateStateMachine.ProofAction? in
            // The gate has closed, or another generation has replaced this one.
            guard storage.machine.isProved, storage.current === generation else { return nil }
            switch result {
            case .success(let evidence):
                storage.history.proved(evidence)
                return storage.machine.probeSucceeded()
            case .failure(let error):
                storage.history.failed(shown(error.explained(by: storage.secretFault)), at: now)
                let action = storage.machine.probeFailed(isScheduled: isScheduled)
                if action == .fail {
                    rundown.shut()
                    storage.current = nil
                    storage.history.keep(generation)
                }
                return action
            }
        }
        guard let action else { return }
        report(action, result)
        if action == .fail {
            detach { _ in await generation.end() }
            hasFailed()
            renewStandby()
        } else {
            // A failed proof requested by an operator must not postpone the scheduled ones.
            if isScheduled || action == .degrade || (try? result.get()) != nil { scheduleProbe() }
            dependencies.onChange()
        }
        switch result {
        case .failure(let error): if error.code == .unauthorized { renewAfterRefusal(isCertain: true) }
        case .success:
            if isScheduled { renewAfterProof() }
            await proveStandby()
        }
    }

    private func report(_ action: GateStateMachine.ProofAction, _ result: Result<[Evidence], ConnectorError>) {
        switch (action, result) {
        case (.recover, _): logger.info("gate recovered")
        case (.degrade, .failure(let error)):
            logger.warning("gate degraded", metadata: ["error": "\(shown(error))"])
        case (_, .failure(let error)): logger.debug("probe failed", metadata: ["error": "\(shown(error))"])
        case (_, .success): break
        }
    }
}
