// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorOutbox
internal import Synchronization

/// Metrics, read from the host's own state. Only call durations and outcomes of attempts are kept for metrics alone.
extension ConnectorHost {
    /// Every series of every metric, in the order of ``MetricDefinition/all``.
    package var metrics: [MetricSample] { metricsReader() }

    /// Reads every series; does not retain the host.
    var metricsReader: @Sendable () -> [MetricSample] {
        { [current, outbox, running, clock = dependencies.clock] in
            Self.metrics(current, outbox, running, now: clock.wallTime())
        }
    }

    /// The metrics in the Prometheus text format, version 0.0.4, for a scraped endpoint.
    ///
    /// ```swift
    /// router.get("metrics") { _, _ in host.prometheusText }
    /// ```
    ///
    /// It needs no metrics system. See <doc:Observing>.
    public var prometheusText: String { PrometheusText.write(metrics) }

    /// The durations of each connector's calls by name; connectors without calls are omitted.
    package var callDurations: [String: DurationHistogram] {
        var durations: [String: DurationHistogram] = [:]
        for node in current.tree.nodes {
            for case .histogram(let histogram) in node.tally.samples.map(\.value) {
                durations[node.path, default: DurationHistogram()].add(histogram)
            }
        }
        return durations
    }

    /// Reads a tree, its outbox and whether it is that of the file.
    private static func metrics(
        _ current: CurrentTree,
        _ outbox: HostOutbox,
        _ running: RunningConfiguration,
        now: Timestamp
    ) -> [MetricSample] {
        let tree = current.tree
        let whole = outbox.report(on: tree)
        var samples = [MetricSample(.configurationCurrent, [], .count(running.report.errors.isEmpty ? 1 : 0))]
        if tree.queues.contains(where: \.takesEvents) {
            samples.append(MetricSample(.outboxReady, [], .count(whole.outboxError == nil ? 1 : 0)))
        }
        for (node, report) in zip(tree.nodes, whole.gates) where node.path == report.path {
            let path = (name: MetricDefinition.pathAttribute, value: node.path)
            let origins = outbox.outbox.firstStatistics(of: node.path)
            var own =
                report.samples(path, now: now, origins: origins) + node.tally.samples + (node.gate?.samples(path) ?? [])
            if report.isSimulated {
                for index in own.indices { own[index].attributes.append((MetricDefinition.simulatedAttribute, "true")) }
            }
            samples += own
        }
        let ranks = Dictionary(
            zip(MetricDefinition.all.map(\.name), MetricDefinition.all.indices),
            uniquingKeysWith: { first, _ in first }
        )
        let order = samples.map { ranks[$0.definition.name] ?? 0 }
        // Ties keep their position, so each metric lists connectors in the order of the file.
        return samples.indices.sorted { (order[$0], $0) < (order[$1], $1) }.map { samples[$0] }
    }
}

extension GateReport {
    /// The gate's state and its outbox.
    ///
    /// - Parameter origins: The paths of the queue, each with its statistics when the host opened the outbox.
    func samples(
        _ path: (name: String, value: String),
        now: Timestamp,
        origins: [(path: String, statistics: QueueStatistics?)] = []
    ) -> [MetricSample] {
        var samples = GateState.allCases.map { state in
            MetricSample(
                .gateState,
                [path, (MetricDefinition.stateAttribute, state.rawValue)],
                .count(state == self.state ? 1 : 0)
            )
        }
        let required = (MetricDefinition.requiredAttribute, "\(isRequired)")
        samples.append(MetricSample(.gateReady, [path, required], .count(isReady ? 1 : 0)))
        for secret in secrets {
            let attributes = [path, (MetricDefinition.secretAttribute, secret.field)]
            samples.append(MetricSample(.secretAge, attributes, .number(Double(secret.age(at: now).nanoseconds) / 1e9)))
            samples.append(MetricSample(.secretInUse, attributes, .count(secret.isInUse ? 1 : 0)))
        }
        // A plugin that has returned to the host's process keeps its count: counters do not go back.
        if isolation != nil || crashCount > 0 {
            samples.append(MetricSample(.crashes, [path], .count(UInt64(crashCount))))
        }
        if let standby {
            samples.append(MetricSample(.standbyReady, [path], .count(standby.state == .ready ? 1 : 0)))
        }
        if let breaker {
            samples += [
                MetricSample(.breakerOpen, [path], .count(breaker.state == .closed ? 0 : 1)),
                MetricSample(.breakerOpenings, [path], .count(breaker.openings)),
                MetricSample(.breakerRefusals, [path], .count(breaker.refusals)),
            ]
        }
        guard let outbox else { return samples }
        let age = outbox.oldest.map { now.nanoseconds(after: $0) }
        samples += [
            MetricSample(.queueEvents, [path], .count(UInt64(clamping: outbox.queued))),
            MetricSample(.queueSize, [path], .count(UInt64(clamping: outbox.bytes))),
            MetricSample(.queueAge, [path], .number(Double(age ?? 0) / 1e9)),
            MetricSample(.deadLetters, [path], .count(UInt64(clamping: outbox.dead))),
            MetricSample(
                .delivered,
                [path],
                .count(UInt64(clamping: outbox.delivered)),
                origins: origins.map { ($0, $1.map { UInt64(clamping: $0.delivered) }) }
            ),
            MetricSample(
                .dropped,
                [path],
                .count(UInt64(clamping: outbox.dropped)),
                origins: origins.map { ($0, $1.map { UInt64(clamping: $0.dropped) }) }
            ),
        ]
        return samples
    }
}

extension Gate {
    /// Samples of a leaf: attempts, misbehaviour, takeovers, and the calls at its rundown guard.
    fileprivate func samples(_ path: (name: String, value: String)) -> [MetricSample] {
        let (history, takeovers) = storage.withLock { ($0.history, $0.standby.report.takeovers) }
        let successes = history.successCount
        // A gate that no longer keeps a standby keeps its count: counters do not go back.
        let countsTakeovers = keepsStandby || takeovers > 0
        return [
            MetricSample(.misbehaviours, [path], .count(UInt64(clamping: history.misbehaviourCount))),
            MetricSample(.activeCalls, [path], .count(UInt64(clamping: rundown.activeCalls))),
            MetricSample(.typedCalls, [path], .count(rundown.typedCalls)),
        ] + (countsTakeovers ? [MetricSample(.standbyTakeovers, [path], .count(takeovers))] : [])
            + (successes > 0 ? [MetricSample(.gateAttempts, [path], .count(successes))] : [])
            + Self.samples(.gateAttempts, path, history.failureCounts)
            + Self.samples(.typedFailures, path, rundown.typedFailures)
    }

    private static func samples(
        _ definition: MetricDefinition,
        _ path: (name: String, value: String),
        _ counts: [ConnectorError.Code: UInt64]
    ) -> [MetricSample] {
        counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, count in
            MetricSample(definition, [path, (MetricDefinition.errorAttribute, code.rawValue)], .count(count))
        }
    }
}
