// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorOutbox

/// The dead letters: the events that vendors refused for good, and why.
enum DeadLettersScene {
    static let descriptor = SceneDescriptor(host: "dead", title: "Dead") { context in
        RecordList(context.route).map { scene(of: $0, context) }
    }

    private static func scene(of list: RecordList, _ context: SceneContext) -> Scene {
        let snapshot = context.snapshot
        let page = snapshot.records[context.route] ?? RecordPage()
        var scene = Scene(context.route, "Dead letters", [])
        if list.isWhole { scene.earlierActs = snapshot.earlierLetters.flatMap { acts(on: $0, snapshot.commands) } }
        if let failure = snapshot.failure {
            scene.components = [context.component("failure", TableModel.self, .failed(failure))]
            return scene
        }
        let letters = page.records
        if letters.isEmpty {
            let state = context.emptiness(of: list, page, "dead letters")
            scene.components = [context.component("empty", TableModel.self, state)]
        } else {
            let table = EventTable(letters, at: snapshot.time, commands: snapshot.commands)
            scene.components = [context.component("dead", title: title(of: list, page, snapshot), table.model)]
        }
        if let link = context.nextPage(of: list, after: page) { scene.components.append(link) }
        guard !letters.isEmpty, list.search.isEmpty else { return scene }
        scene.commandLine =
            if let cursor = list.cursor {
                snapshot.commands.outbox("dead", "--after", cursor.description)
            } else {
                snapshot.commands.outbox("dead")
            }
        // What acts on every letter is offered where the list of every letter begins.
        if list.isWhole { scene.acts = acts(on: page.shownLetters, snapshot.commands) }
        return scene
    }

    private static func title(of list: RecordList, _ page: RecordPage, _ snapshot: ConsoleSnapshot) -> String {
        let count = page.records.count
        let noun = count == 1 ? "dead letter" : "dead letters"
        guard list.search.isEmpty else { return "\(count) \(noun) with \"\(list.search.excerpt)\", oldest first" }
        let total = page.total ?? snapshot.report.gates.compactMap(\.outbox?.dead).reduce(0, +)
        return "\(count)\(total > count ? " of \(total)" : "") \(noun), oldest first"
    }

    /// The acts on every dead letter, bound to those that are shown.
    private static func acts(on letters: ShownLetters, _ commands: CommandLines) -> [ConsoleAct] {
        let isOne = letters.count == 1
        let noun = isOne ? "1 dead letter" : "\(letters.count) dead letters"
        let (they, them) = isOne ? ("It is", "it") : ("They are", "them")
        return [
            ConsoleAct(
                .replay,
                .letters(asShown: letters),
                title: "replay every dead letter",
                question: "Replay \(noun)? \(they) sent again to the vendors that refused \(them).",
                commandLine: commands.outbox("replay", "--all")
            ),
            ConsoleAct(
                .drop,
                .letters(asShown: letters),
                title: "drop every dead letter",
                question: "Drop \(noun)? \(they) lost for good.",
                commandLine: commands.outbox("drop", "--all")
            ),
        ]
    }
}
