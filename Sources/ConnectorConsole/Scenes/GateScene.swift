// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// One gate: its state, error, evidence and operations.
struct GateScene {
    let gate: GateReport
    let context: SceneContext

    var scene: Scene {
        var components = [context.component("state", state)]
        if let error = gate.error {
            var why = DetailsModel()
            why.add(error, gate.style)
            components.append(context.component("error", title: "Why", why))
        }
        if !gate.evidence.isEmpty { components.append(context.component("proofs", title: "Proof", proofs)) }
        if gate.outbox != nil { components.append(context.component("outbox", title: "Outbox", outbox)) }
        if let load = context.snapshot.load[gate.path] {
            components += LoadCharts(gate: gate, load: load).components(context)
        }
        if !changes.rows.isEmpty { components.append(context.component("changes", title: "Changes", changes)) }
        if let operations { components.append(context.component("operations", title: "Operations", operations)) }
        var scene = Scene(context.route, gate.path, components)
        scene.acts = Self.acts(on: gate, shared: context.snapshot.report.sharedGates)
        scene.commandLine = context.snapshot.commands.command("status", takesSimulation: true)
        return scene
    }

    /// The acts on a gate.
    ///
    /// - Parameter shared: The gates that stand in several places of the tree.
    static func acts(on gate: GateReport, shared: [GateReport]) -> [ConsoleAct] {
        let subject = ConsoleAct.Subject.gate(gate.path)
        guard gate.target == .open else { return [ConsoleAct(.open, subject, title: "open \(gate.path)")] }
        let events = gate.outbox == nil ? "" : "; its events wait in the outbox"
        let elsewhere = shared.flatMap { $0.places(outside: gate.path) }
        let also =
            elsewhere.isEmpty
            ? "" : " This also closes \(elsewhere.joined(separator: ", ")): the same gate at another place."
        let question = "Close \(gate.path)?\(also) Its calls fail until it is opened again\(events)."
        return [
            ConsoleAct(.retry, subject, title: "retry \(gate.path)"),
            ConsoleAct(.close, subject, title: "close \(gate.path)", question: question),
        ]
    }

    private var state: DetailsModel {
        let time = context.snapshot.time
        var details = DetailsModel()
        details.add("state", gate.mark + StyledText(gate.state.rawValue, gate.style))
        details.add("since", context.snapshot.history.since(gate.path).map { "\($0), \(time.age(of: $0)) ago" })
        details.add(
            "policy",
            gate.policy.map { policy in StyledText(policy + (gate.quorum.map { ", \($0) needed" } ?? "")) }
        )
        details.add("required", gate.isRequired ? "yes" : "no")
        details.add("uses", gate.uses.isEmpty ? nil : StyledText(gate.usedConnectors.joined(separator: ", ")))
        details.add("also at", gate.places.isEmpty ? nil : StyledText(gate.places.joined(separator: ", ")))
        let plugin = gate.plugin
        details.add("plugin", plugin.map { "\($0.id) \("\($0.version)")" }, link: plugin.map { .plugin($0.id) })
        details.add("promoted", gate.promotion.map { StyledText($0.text, .warning) })
        details.add("sandbox", gate.confinementText)
        details.add("runner", gate.isolation == nil ? nil : runner)
        details.add(
            "standby",
            gate.standby.map { StyledText($0.text, $0.state == .ready ? .text : .warning) }
        )
        details.add(
            "breaker",
            gate.breaker.map { StyledText($0.text, $0.state == .closed ? .text : .warning) }
        )
        details.add("simulated", gate.isSimulated ? "yes" : nil)
        details.add("opened in", gate.policy == nil ? gate.openDuration.map { "\($0.brief)" } : nil)
        details.add("attempts", gate.attempts > 1 ? "\(gate.attempts)" : nil)
        details.add("next attempt", gate.nextAttemptAt.map { "\($0)" })
        details.add("calls", gate.calls.map { "\($0.total), \($0.failures) failed" })
        details.add("last failure", gate.calls?.lastFailure?.line)
        details.add(
            "requests",
            gate.http.map { http in
                let status = http.lastStatus.map { ", the last with status \($0)" } ?? ""
                return "\(http.requests), \(http.failures) without a response\(status)"
            }
        )
        details.add("misbehaviour", gate.misbehaviourCount > 0 ? StyledText("\(gate.misbehaviourCount)", .bad) : nil)
        details.add("differences", gate.differences.map { "\($0.different) of \($0.compared) answers" })
        details.add("last difference", gate.differences?.last.map { StyledText($0) })
        if let canary = gate.canary {
            details.add("canary share", "\(canary.share) %")
            details.add("withdrawn", canary.withdrawal.map { StyledText($0, .warning) })
            for child in [canary.first, canary.second] {
                let mean = child.mean.map { ", \($0.brief) on average" } ?? ""
                details.add(child.path, "\(child.calls) calls, \(child.failures) failed\(mean)")
            }
        }
        for secret in gate.secrets {
            let text = "\(secret.source), \(time.age(of: secret.changedAt)) old, "
            details.add(
                "secret \(secret.field)",
                StyledText(text) + StyledText(secret.use, secret.isInUse ? .text : .warning)
            )
        }
        for (index, warning) in gate.warnings.enumerated() {
            details.add(index == 0 ? "warning" : "warning \(index + 1)", StyledText(warning, .warning))
        }
        return details
    }

    /// The plugin's process, its private memory, and how often it was restarted.
    private var runner: StyledText {
        guard let runner = context.snapshot.report.runners.first(where: { $0.connectors.contains(gate.path) }) else {
            return StyledText(gate.isolation?.rawValue ?? "")
        }
        return StyledText("\(runner.name), process \(runner.process), \(runner.memoryText)")
            + StyledText(runner.restarts > 0 ? ", \(runner.restarts) restarts" : "", .warning)
    }

    private var proofs: TimelineModel {
        var timeline = TimelineModel()
        for evidence in gate.evidence.sorted(by: { $0.at < $1.at }) {
            let took = evidence.duration == .zero ? "" : " (\(evidence.duration.brief))"
            timeline.add(
                evidence.at,
                StyledText(evidence.kind.rawValue, .good) + StyledText(took, .muted)
                    + StyledText(evidence.detail.isEmpty ? "" : "  \(evidence.detail)")
            )
        }
        return timeline
    }

    private var outbox: DetailsModel {
        var details = DetailsModel()
        guard let outbox = gate.outbox else { return details }
        let time = context.snapshot.time
        details.add("waiting", outbox.queued.text(.warning), link: .outbox)
        details.add("oldest", outbox.oldest.map { "\($0), \(time.age(of: $0)) ago" })
        details.add("dead", outbox.dead.text(.bad), link: .dead)
        details.add("delivered", "\(outbox.delivered)")
        details.add("last", outbox.lastDelivered.map { "\($0), \(time.age(of: $0)) ago" })
        details.add("dropped", outbox.dropped > 0 ? StyledText("\(outbox.dropped)", .warning) : nil)
        details.add("stuck", outbox.failure.map { StyledText($0, .bad) })
        details.add("next attempt", outbox.nextAttemptAt.map { "\($0)" })
        return details
    }

    private var changes: TimelineModel {
        var timeline = TimelineModel()
        let below = gate.path + "/"
        let seen = context.snapshot.history.transitions.filter { $0.path == gate.path || $0.path.hasPrefix(below) }
        for change in seen.suffix(8) {
            let current = context.snapshot.report[change.path]
            let style = current.flatMap { $0.state == change.state ? $0.style : nil } ?? .muted
            let text =
                StyledText("\(change.path == gate.path ? "" : "\(change.path) ")")
                + StyledText(change.state.rawValue, style)
            timeline.add(change.time, text + StyledText(change.reason.map { "  \($0)" } ?? "", .muted))
        }
        return timeline
    }

    private var operations: TableModel? {
        let capabilities = context.snapshot.capabilities[gate.path] ?? []
        // Several connectors below a composite may offer the same operation.
        var (seen, names): (Set<String>, Set<String>) = ([], [])
        let rows = capabilities.flatMap { capability in
            capability.operations.filter { seen.insert("\(capability.id) \($0.name)").inserted }.map { operation in
                // A second operation with the same name is called with its capability.
                let isFirst = names.insert(operation.name).inserted
                let name = isFirst ? operation.name : capabilities.label(of: operation.name, in: capability.id)
                return Row(
                    "\(capability.id) \(operation.name)",
                    [
                        StyledText(operation.name, .link), StyledText("\(capability.id)", .muted),
                        StyledText(operation.signature.description),
                    ],
                    link: .operation(name, of: gate.path)
                )
            }
        }
        guard !rows.isEmpty else { return nil }
        return TableModel([.init("operation"), .init("capability"), .init("signature")], rows)
    }
}
