// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost

/// What a reload of the file would change, with a button that applies exactly that.
enum PlanScene {
    static let descriptor = {
        var descriptor = SceneDescriptor(host: Route.plan.root, title: "Plan") { context in
            context.route == .plan ? scene(context) : nil
        }
        // A link in the configuration scene leads here.
        descriptor.hasTab = false
        return descriptor
    }()

    private static func scene(_ context: SceneContext) -> Scene {
        let snapshot = context.snapshot
        var scene = Scene(context.route, "Plan", [])
        scene.commandLine = snapshot.commands.command("plan")
        guard snapshot.permitsActs else {
            let sentence = "only those who may act see the plan: making it runs the commands of secrets"
            scene.components = [context.component("notice", NoticeModel(StyledText(sentence, .muted)))]
            return scene
        }
        scene.earlierActs = snapshot.earlierPlans.compactMap { apply($0, snapshot) }
        guard let shown = snapshot.plan else {
            scene.components = [context.component("plan", TreeModel.self, .loading)]
            return scene
        }
        let again = ConsoleAct(.plan, .plan(nil), title: "make the plan again")
        switch shown.result {
        case .failure(let errors):
            let rows = errors.errors.enumerated().map { index, error in
                Row("\(index)", [StyledText(error.position.map { "\($0)" } ?? "", .muted), error.line])
            }
            scene.components = [
                context.component("notice", NoticeModel(StyledText("the file is not valid; nothing changes", .bad))),
                context.component("faults", title: "Faults", TableModel([.init("at"), .init("fault")], rows)),
            ]
            scene.acts = [again]
        case .success(let plan):
            var details = DetailsModel()
            details.add("plan", StyledText(plan.summary, plan.isEmpty ? .muted : .strong))
            details.add("made", StyledText("\(snapshot.time.age(of: shown.madeAt)) ago", .muted))
            scene.components = [context.component("summary", details)]
            let rows = rows(plan, snapshot)
            if !rows.isEmpty {
                let columns = [Component.Column("change"), .init("cost")]
                scene.components.append(context.component("changes", title: "Changes", TreeModel(columns, rows)))
            }
            scene.acts = [apply(plan, snapshot), again].compactMap(\.self)
        }
        return scene
    }

    private static func rows(_ plan: Plan, _ snapshot: ConsoleSnapshot) -> [Row] {
        plan.lines().enumerated().map { index, line in
            let style: StyleName =
                switch line.kind {
                case .addition: .good
                case .removal, .restart: .bad
                case .move, .change: .warning
                case .detail: .text
                }
            let sign = line.sign.isEmpty ? "" : StyledText("\(line.sign) ", style)
            let isKnown = snapshot.report[line.path] != nil
            return Row(
                "\(index) \(line.path)",
                [sign + StyledText(line.text, style), StyledText(line.cost ?? "", .muted)],
                depth: line.kind == .detail ? 1 : 0,
                link: line.kind != .detail && isKnown ? .gate(line.path) : nil
            )
        }
    }

    /// The act that applies the plan; nil if there is nothing to do, or only a restart would do it.
    private static func apply(_ plan: Plan, _ snapshot: ConsoleSnapshot) -> ConsoleAct? {
        guard !plan.isEmpty, plan.restarts.isEmpty, let basis = plan.basis else { return nil }
        let stopping = plan.changes.filter { $0.cost == .stopsFirst }.map(\.path)
        let question =
            stopping.isEmpty
            ? nil : "Apply the plan? Calls of \(stopping.joined(separator: ", ")) fail until the new one has opened."
        return ConsoleAct(
            .apply,
            .plan(basis),
            title: "apply the plan",
            question: question,
            commandLine: snapshot.commands.command("apply")
        )
    }
}
