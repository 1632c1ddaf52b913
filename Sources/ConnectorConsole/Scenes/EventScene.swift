// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// One event of the outbox: its payload, and every delivery attempt at each connector.
struct EventScene {
    let id: String
    let context: SceneContext

    var scene: Scene? {
        let records = context.snapshot.found.filter { $0.event.id == id }
        guard let first = records.first else { return missing }
        var details = DetailsModel()
        details.add("event", StyledText(id, .strong))
        details.add("operation", "\(first.event.kind.description)")
        details.add(
            "sent",
            "\("\(first.event.createdAt)"), \(context.snapshot.time.age(of: first.event.createdAt)) ago"
        )
        var components = [context.component("event", details)]
        for record in records {
            components.append(
                context.component("at \(record.path)", title: "At \(record.path)", attempts(record))
            )
        }
        let payload = (try? JSONValue(parsing: first.event.payload, file: "")) ?? .null
        let lines = payload.serialized(pretty: true).split(separator: "\n").map { StyledText(String($0)) }
        components.append(context.component("payload", title: "Payload for the vendors", TextModel(lines)))
        var scene = Scene(context.route, id, components)
        scene.acts = records.flatMap { Self.acts(on: $0, commands: context.snapshot.commands) }
        scene.commandLine = context.snapshot.commands.outbox("explain", id)
        return scene
    }

    /// The scene in place of an event that could not be read; nil if there is no such event.
    private var missing: Scene? {
        guard let failure = context.snapshot.failure else { return nil }
        return Scene(context.route, id, [context.component("failure", TableModel.self, .failed(failure))])
    }

    /// The acts on an event at a connector; empty unless it is a dead letter.
    static func acts(on record: OutboxRecord, commands: CommandLines) -> [ConsoleAct] {
        guard record.state == .dead else { return [] }
        let (id, path) = (record.event.id, record.path)
        return [
            ConsoleAct(
                .replay,
                .letter(id, connector: path),
                title: "replay \(id) at \(path)",
                commandLine: commands.outbox("replay", id, connector: path)
            ),
            ConsoleAct(
                .drop,
                .letter(id, connector: path),
                title: "drop \(id) at \(path)",
                question: "Drop the dead letter \(id) of \(path)? It is lost for good.",
                commandLine: commands.outbox("drop", id, connector: path)
            ),
        ]
    }

    private func attempts(_ record: OutboxRecord) -> TimelineModel {
        var timeline = TimelineModel()
        for attempt in record.attempts {
            let times = attempt.count == 1 ? "" : "\(attempt.count) attempts until \(attempt.until): "
            let outcome = attempt.failure.map { failure in
                StyledText(failure.code.rawValue, .bad) + StyledText(": \(failure.reason)")
            }
            timeline.add(attempt.at, StyledText(times, .muted) + (outcome ?? StyledText("delivered", .good)))
        }
        let style: StyleName =
            switch record.state {
            case .queued: .warning
            case .delivered: .good
            case .dead: .bad
            case .dropped: .warning
            }
        let due = record.due.map { ", next attempt \($0)" } ?? ""
        let state = StyledText(record.state.rawValue, style) + StyledText(due)
        timeline.rows.append(Row("state", [StyledText("now", .muted), state]))
        let acts = Self.acts(on: record, commands: context.snapshot.commands)
        for index in timeline.rows.indices { timeline.rows[index].acts = acts }
        return timeline
    }
}
