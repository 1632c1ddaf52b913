// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorOutbox

/// The scenes of the outbox: the queue of each connector, the waiting events, and one event.
enum OutboxScene {
    static let descriptor = SceneDescriptor(host: "outbox", title: "Outbox") { context in
        switch context.route.parts.count {
        case 1: queues(context)
        case 2: EventScene(id: context.route.parts[1], context: context).scene
        default: LaterRecords(context.route).map { _ in waiting(context) }
        }
    }

    /// A later page of the list of waiting events.
    private static func waiting(_ context: SceneContext) -> Scene {
        let snapshot = context.snapshot
        let records = snapshot.later[context.route] ?? []
        let table = waiting(records, context)
        let state = snapshot.failure.map { ViewState.failed($0) } ?? .empty("no more waiting events")
        let notice = context.component("empty", TableModel.self, state)
        return Scene(context.route, "Outbox", table.isEmpty ? [notice] : table)
    }

    /// A list of waiting events and the link to the next page; empty if no events wait.
    private static func waiting(_ records: [OutboxRecord], _ context: SceneContext) -> [Component] {
        guard !records.isEmpty else { return [] }
        let table = EventTable(records, at: context.snapshot.time, commands: context.snapshot.commands)
        let list = context.component("waiting", title: "Waiting, oldest first", table.model)
        return [list, context.moreRecords(after: records, in: .outbox)].compactMap(\.self)
    }

    private static func queues(_ context: SceneContext) -> Scene {
        let snapshot = context.snapshot
        let gates = snapshot.report.gates.filter { $0.outbox != nil }
        var components: [Component] = []
        if let failure = snapshot.failure {
            components.append(context.component("failure", TableModel.self, .failed(failure)))
        }
        guard !gates.isEmpty else {
            let empty = context.component("empty", TableModel.self, .empty("no events sent yet"))
            return Scene(context.route, "Outbox", components + [empty])
        }
        let rows = gates.compactMap { gate in gate.outbox.map { row(gate, $0, at: snapshot.time) } }
        let columns: [Component.Column] = [
            .init("connector"), .init("waiting", isNumber: true), .init("oldest"), .init("dead", isNumber: true),
            .init("delivered", isNumber: true), .init("last"), .init("dropped", isNumber: true),
            .init("stuck because"),
        ]
        components.append(context.component("queues", title: "Queues", TableModel(columns, rows)))
        components += waiting(snapshot.waiting, context)
        var scene = Scene(context.route, "Outbox", components)
        scene.commandLine = snapshot.commands.outbox("list")
        return scene
    }

    private static func row(_ gate: GateReport, _ outbox: OutboxReport, at time: Timestamp) -> Row {
        let cells: [StyledText] = [
            StyledText(gate.path, .strong),
            outbox.queued.text(.warning),
            StyledText(outbox.oldest.map { time.age(of: $0) } ?? ""),
            outbox.dead.text(.bad),
            StyledText("\(outbox.delivered)"),
            StyledText(outbox.lastDelivered.map { "\(time.age(of: $0)) ago" } ?? ""),
            outbox.dropped.text(.warning),
            StyledText(outbox.failure ?? "", .bad),
        ]
        var row = Row(gate.path, cells, link: .gate(gate.path))
        row.acts = [ConsoleAct(.retry, .gate(gate.path), title: "retry \(gate.path)")]
        return row
    }
}

/// Events of the outbox as a table.
struct EventTable {
    /// The table.
    let model: TableModel

    /// Makes a row for each record.
    init(_ records: [OutboxRecord], at time: Timestamp, commands: CommandLines) {
        let rows = records.map { record in
            let failure = record.attempts.last?.failure
            var row = Row(
                "\(record.event.id) \(record.path)",
                [
                    StyledText(record.event.id, .link), StyledText(record.path),
                    StyledText(record.event.kind.operation),
                    StyledText("\(time.age(of: record.event.createdAt)) ago", .muted),
                    failure.map { StyledText("\($0.code.rawValue): ", .bad) + StyledText($0.reason) } ?? "",
                ],
                link: .event(record.event.id)
            )
            row.acts = EventScene.acts(on: record, commands: commands)
            row.commandLine = commands.outbox("explain", record.event.id)
            return row
        }
        model = TableModel(
            [.init("event"), .init("connector"), .init("operation"), .init("sent"), .init("last failure")],
            rows
        )
    }
}
