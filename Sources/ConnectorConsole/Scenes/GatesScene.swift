// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The scenes of gates: the tree of all gates, one gate, and one operation.
enum GatesScene {
    static let descriptor = SceneDescriptor(host: "gates", title: "Gates") { context in
        switch context.route.parts.count {
        case 1: tree(context)
        case 2: context.snapshot.report[context.route.parts[1]].map { GateScene(gate: $0, context: context).scene }
        case 3: OperationScene.scene(context)
        default: nil
        }
    }

    private static func tree(_ context: SceneContext) -> Scene {
        let (report, snapshot) = (context.snapshot.report, context.snapshot)
        let leaves = report.gates.filter { $0.policy == nil }
        let readiness = report.isReady ? StyledText("ready", .good) : StyledText("not ready", .bad)
        let open = leaves.count { $0.state == .open }
        let summary = readiness + StyledText(": \(open) of \(leaves.count) gate\(leaves.count == 1 ? "" : "s") open")
        let shared = report.sharedGates
        let rows = report.gates.map { row(for: $0, in: snapshot, shared) }
        let columns = ["gate", "state", "since", "plugin", "waiting", "dead", "proof"].map {
            Component.Column($0, isNumber: ["waiting", "dead"].contains($0))
        }
        var components = [
            context.component("summary", NoticeModel(summary)), context.component("gates", TreeModel(columns, rows)),
        ]
        if !report.runners.isEmpty {
            components.append(context.component("runners", title: "Runners", runners(of: report)))
        }
        if let images = report.unusedImagesText {
            components.append(context.component("images", NoticeModel(StyledText(images, .muted))))
        }
        var scene = Scene(context.route, "Gates", components)
        scene.commandLine = snapshot.commands.command("status", takesSimulation: true)
        return scene
    }

    /// The processes of isolated plugins.
    private static func runners(of report: Report) -> TableModel {
        let columns = ["runner", "process", "memory", "restarts", "gates", "sandbox"].map {
            Component.Column($0, isNumber: ["process", "memory", "restarts"].contains($0))
        }
        let rows = report.runners.map { runner in
            let gates = runner.connectors + runner.standbys.map { "\($0) (standby)" }
            let gate = (runner.connectors + runner.standbys).lazy.compactMap { report[$0] }
                .first { $0.sandbox != nil }
            return Row(
                "\(runner.process)",
                [
                    StyledText(runner.name), StyledText("\(runner.process)", .muted), StyledText(runner.memoryText),
                    runner.restarts.text(.warning), StyledText(gates.joined(separator: ", ")),
                    gate?.confinementText ?? "",
                ],
                link: gate.map { .gate($0.path) }
            )
        }
        return TableModel(columns, rows)
    }

    private static func row(for gate: GateReport, in snapshot: ConsoleSnapshot, _ shared: [GateReport]) -> Row {
        let depth = gate.path.utf8.count { $0 == UInt8(ascii: "/") }
        let subject =
            gate.policy.map { StyledText($0, .muted) }
            ?? gate.plugin.map { StyledText("\($0)") + StyledText(gate.isSimulated ? " (simulated)" : "", .muted) }
        var row = Row(
            gate.path,
            [
                gate.mark + StyledText(gate.name, gate.policy == nil ? .text : .strong),
                StyledText(gate.state.rawValue, gate.style),
                snapshot.history.since(gate.path).map { StyledText(snapshot.time.age(of: $0)) } ?? "",
                subject ?? "",
                gate.outbox.map { $0.queued.text(.warning) } ?? "",
                gate.outbox.map { $0.dead.text(.bad) } ?? "",
                proof(of: gate, at: snapshot.time),
            ],
            depth: depth,
            link: .gate(gate.path)
        )
        row.acts = GateScene.acts(on: gate, shared: shared)
        row.commandLine = snapshot.commands.command("status", takesSimulation: true)
        return row
    }

    /// The error of a gate that is not open, or the strongest evidence of one that is.
    private static func proof(of gate: GateReport, at time: Timestamp) -> StyledText {
        if gate.state != .open, let error = gate.error { return error.line }
        guard gate.policy == nil, gate.state.isUsable, let evidence = gate.strongestEvidence else { return "" }
        let age = StyledText("\(time.age(of: evidence.at)) ago  ", .muted)
        return StyledText("\(evidence.kind.rawValue) ") + age + StyledText(evidence.detail, .muted)
    }
}
