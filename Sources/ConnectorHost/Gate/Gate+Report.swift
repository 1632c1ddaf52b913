// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Synchronization

extension Gate {
    /// The gate's part of the report.
    var report: GateReport {
        let plan = plan
        let manifest = plan.manifest
        let now = dependencies.clock.now()
        let breakerReport = breaker.report(at: now, dependencies.clock.wallTime())
        let refusal = breaker.refusal(at: now).map(shown)
        return storage.withLock { storage in
            let history = storage.history
            return GateReport(
                path: path,
                state: refusal != nil && storage.machine.state == .open ? .degraded : storage.machine.state,
                target: storage.machine.target,
                policy: nil,
                plugin: manifest.map {
                    GateReport.PluginIdentity(
                        id: $0.id,
                        version: $0.version,
                        isLinked: plan.isLinked && !plan.hasStandIn,
                        isLocal: $0.isLocal,
                        content: history.content
                    )
                },
                evidence: history.evidence,
                openDuration: history.openDuration,
                attempts: storage.machine.attempts,
                nextAttemptAt: storage.nextAttempt,
                error: history.error ?? refusal,
                capabilities: manifest?.callable.reduce(into: [:]) { names, capability in
                    names[capability.id.description] = capability.operations.map(\.name)
                } ?? [:],
                http: (storage.current?.counters ?? history.counters).flatMap { $0.requests > 0 ? $0 : nil },
                misbehaviourCount: history.misbehaviourCount,
                warnings: plan.warnings + (history.content?.loadingWarnings ?? []).map(\.withGivenPaths)
                    + (storage.secretFault.map { [$0.warning] } ?? []),
                uses: plan.uses.reduce(into: [:]) { $0[$1.use.name] = $1.connector },
                secrets: SecretReport.reports(
                    read: storage.configuration,
                    used: storage.current?.configuration,
                    fault: storage.secretFault,
                    evidence: history.evidence
                ),
                isSimulated: plan.isSimulated,
                isolation: storage.current?.isolation.isRemote ?? plan.runsRemotely(history.isolation) ? .process : nil,
                promotion: (storage.current?.isolation ?? history.isolation).promotion,
                sandbox: storage.current.map(\.sandbox) ?? history.sandbox,
                crashCount: history.crashCount,
                standby: keepsStandby ? storage.standby.report : nil,
                breaker: breakerReport,
                generation: storage.generationCount,
                isOnTrial: storage.predecessor != nil,
                drainingCount: storage.draining.count,
                hostHasClosed: storage.hostHasClosed
            )
        }
    }
}
