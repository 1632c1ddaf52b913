// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Logging
internal import Synchronization

/// How an open gate replaces its instance while its plan stays: by one with other secrets, or because it is of an earlier
/// plan.
extension Gate {
    /// Opens a generation beside the current one, directs calls to it, and ends the earlier one. If it does not open,
    /// nothing changes.
    ///
    /// - Parameters:
    ///   - number: The number of the plan that the configuration belongs to. If the gate has another plan, nothing is
    ///     replaced.
    ///   - acceptsWeaker: Whether the generation may prove less than the current one.
    ///   - message: The message to log after the replacement.
    /// - Returns: Why nothing was replaced, if nothing was.
    func replace(
        by configuration: GatePlan.InstanceConfiguration,
        of number: Int,
        acceptsWeaker: Bool = false,
        saying message: Logger.Message = "gate uses new secrets"
    ) async -> Result<Void, ConnectorError> {
        let role = Role.renewal(ofPlan: number)
        let result = await openBeside(
            plan.with(configuration),
            as: role,
            acceptsWeaker: acceptsWeaker,
            by: .max
        )
        guard case .success(let renewal) = result else {
            dependencies.onChange()
            return result.map { _ in }
        }
        let predecessor = storage.withLock { storage -> Generation? in
            guard storage.opening === renewal.generation, storage.planNumber == number, storage.machine.isProved,
                let predecessor = storage.current
            else { return nil }
            storage.opening = nil
            _ = storage.machine.probeSucceeded()
            directCalls(to: renewal, &storage)
            return predecessor
        }
        guard let predecessor else {
            abandon(renewal.generation, as: role)
            dependencies.onChange()
            return .failure(superseded)
        }
        instanceChanged()
        logger.info(message)
        checkLoss(of: renewal.generation)
        renewStandby()
        // A proof of the predecessor still in progress schedules no next proof.
        scheduleProbe()
        dependencies.onChange()
        await drain(predecessor)
        return .success(())
    }

    /// Replaces, in the background, an instance that opened under an earlier plan while a reload prepared the new one.
    ///
    /// If the plugin is exclusive, or none opens beside it, the gate closes and opens with the new plan, as if it had
    /// first opened after the reload.
    ///
    /// This does nothing if no instance is outdated, or while another one opens in its place. Whoever opens that one
    /// calls this again afterwards.
    func replaceOutdated() {
        guard storage.withLock({ $0.outdated != nil }) else { return }
        detach { gate in
            while let (outdated, number) = gate.storage.withLock({ $0.outdated }) {
                let plan = gate.plan
                // The gate has the plan already: it would close to open with it, and take a weaker proof then.
                if !outdated.plan.excludes(plan),
                    case .success = await gate.replace(
                        by: plan.configuration,
                        of: number,
                        acceptsWeaker: true,
                        saying: "gate uses its new configuration"
                    )
                {
                    return
                }
                let hasFailed = gate.storage.withLock { storage in
                    guard let (other, otherNumber) = storage.outdated else { return false }
                    return other === outdated && otherNumber == number
                }
                // Otherwise the gate has another plan or instance by now, or none, or one opens.
                guard hasFailed else { continue }
                gate.logger.warning("gate closes to open with its new configuration")
                return await gate.restart()
            }
        }
    }
}
