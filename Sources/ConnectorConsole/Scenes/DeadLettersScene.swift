// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorOutbox

/// The dead letters: the events that vendors refused for good, and why.
enum DeadLettersScene {
    static let descriptor = SceneDescriptor(host: "dead", title: "Dead") { context in
        if context.route == .dead { return list(context, context.snapshot.dead) }
        guard LaterRecords(context.route) != nil else { return nil }
        return list(context, context.snapshot.later[context.route] ?? [])
    }

    private static func list(_ context: SceneContext, _ letters: [OutboxRecord]) -> Scene {
        let snapshot = context.snapshot
        if let failure = snapshot.failure {
            let failed = context.component("failure", TableModel.self, .failed(failure))
            return Scene(context.route, "Dead letters", [failed])
        }
        guard !letters.isEmpty else {
            let empty = context.component("empty", TableModel.self, .empty("no dead letters"))
            return Scene(context.route, "Dead letters", [empty])
        }
        let total = snapshot.report.gates.compactMap(\.outbox?.dead).reduce(0, +)
        let table = EventTable(letters, at: snapshot.time, commands: snapshot.commands)
        let more = total > letters.count ? " of \(total)" : ""
        let title = "\(letters.count)\(more) dead letter\(letters.count == 1 ? "" : "s"), oldest first"
        var scene = Scene(context.route, "Dead letters", [context.component("dead", title: title, table.model)])
        if let link = context.moreRecords(after: letters, in: .dead) { scene.components.append(link) }
        scene.commandLine =
            if let cursor = LaterRecords(context.route)?.cursor {
                snapshot.commands.outbox("dead", "--after", cursor.description)
            } else {
                snapshot.commands.outbox("dead")
            }
        let all = max(total, letters.count)
        scene.acts = [
            ConsoleAct(
                .replay,
                .letters,
                title: "replay every dead letter",
                question: "Replay \(all) dead letters? They are sent again to the vendors that refused them.",
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
