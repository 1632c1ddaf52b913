// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorOutbox

/// The dead letters: what vendors refuse for good, and why.
enum DeadLettersScene {
    static let descriptor = SceneDescriptor("dead", title: "Dead") { context in
        guard context.route.parts.count == 1 else { return nil }
        let snapshot = context.snapshot
        if let failure = snapshot.failure {
            let notice = NoticeModel(StyledText(failure.message, .bad))
            return Scene(context.route, "Dead letters", [context.component("failure", notice)])
        }
        guard !snapshot.dead.isEmpty else {
            let notice = NoticeModel(StyledText("no dead letters", .muted))
            return Scene(context.route, "Dead letters", [context.component("empty", notice)])
        }
        let total = snapshot.report.gates.compactMap(\.outbox?.dead).reduce(0, +)
        let table = EventTable(snapshot.dead, at: snapshot.time, commands: snapshot.commands)
        let more = total > snapshot.dead.count ? " of \(total)" : ""
        let title = "\(snapshot.dead.count)\(more) dead letter\(snapshot.dead.count == 1 ? "" : "s"), oldest first"
        var scene = Scene(context.route, "Dead letters", [context.component("dead", title: title, table.model)])
        scene.commandLine = snapshot.commands.outbox("dead")
        let all = max(total, snapshot.dead.count)
        scene.acts = [
            ConsoleAct(
                .replay,
                .letters,
                title: "replay every dead letter",
                question: "Replay \(all) dead letters? Vendors that refused them get them again.",
                commandLine: snapshot.commands.outbox("replay", "--all")
            ),
            ConsoleAct(
                .drop,
                .letters,
                title: "drop every dead letter",
                question: "Drop \(all) dead letters? They are lost for good.",
                commandLine: snapshot.commands.outbox("drop", "--all")
            ),
        ]
        return scene
    }
}
