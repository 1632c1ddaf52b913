// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging
internal import Synchronization

extension Gate {
    /// Proves again after the interval, if the plugin can, and as long as the gate is open or may come back.
    func scheduleProbe() {
        guard let interval = plan.probeInterval else { return }
        guard storage.withLock({ $0.instance?.canProbe ?? false }) else { return }
        let timer = environment.clock.schedule(after: interval.nanoseconds) { [weak self] in
            guard let self else { return }
            Task { await self.probe() }
        }
        let isProved = storage.withLock { storage in
            guard storage.machine.isProved else { return false }
            storage.probe = timer
            return true
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
        let result = outcome.flatMap { environment.evidence(in: $0, startedAt: start) }
        let isProved = change { storage in
            // The gate was closed meanwhile, and perhaps opened again.
            guard storage.machine.isProved, storage.instance === instance else { return false }
            switch result {
            case .success(let evidence):
                storage.machine.probeSucceeded()
                storage.evidence = evidence
                storage.error = nil
            case .failure(let error):
                storage.machine.probeFailed()
                storage.error = described(error)
            }
            return true
        }
        guard isProved else { return }
        if case .failure(let error) = result {
            logger.warning("probe failed", metadata: ["error": "\(described(error))"])
        }
        scheduleProbe()
        environment.onChange()
    }
}
