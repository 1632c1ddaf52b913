// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorOutbox

/// The scenes of the outbox: the queue of each connector, the waiting events, and one event.
enum OutboxScene {
    static let descriptor = SceneDescriptor(host: "outbox", title: "Outbox") { context in
        guard let list = RecordList(context.route) else {
            guard context.route.parts.count == 2 else { return nil }
            return EventScene(id: context.route.parts[1], context: context).scene
        }
        return list.cursor == nil ? queues(list, context) : laterPage(of: list, context)
    }

    private static func laterPage(of list: RecordList, _ context: SceneContext) -> Scene {
        if let failure = context.snapshot.failure {
            return Scene(context.route, "Outbox", [context.component("empty", TableModel.self, .failed(failure))])
        }
        return Scene(context.route, "Outbox", waiting(list, context))
    }

    /// A page of the waiting events, and the link to the next one.
    private static func waiting(_ list: RecordList, _ context: SceneContext) -> [Component] {
        let page = context.snapshot.records[context.route] ?? RecordPage()
        let next = context.nextPage(of: list, after: page)
        guard !page.records.isEmpty else {
            let state = context.emptiness(of: list, page, "waiting events")
            return [context.component("empty", TableModel.self, state), next].compactMap(\.self)
        }
        let table = EventTable(page.records, at: context.snapshot.time, commands: context.snapshot.commands)
        let found = list.search.isEmpty ? "" : " with \"\(list.search.excerpt)\""
        let title = "Waiting\(found), oldest first"
        return [context.component("waiting", title: title, table.model), next].compactMap(\.self)
    }

    private static func queues(_ list: RecordList, _ context: SceneContext) -> Scene {
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
        let hasWaiting = snapshot.records[context.route].map { !$0.records.isEmpty } ?? false
        if snapshot.failure == nil, hasWaiting || !list.isWhole { components += waiting(list, context) }
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
            var row = Self.row(record, at: time)
            row.acts = EventScene.acts(on: record, commands: commands)
            row.commandLine = commands.outbox("explain", record.event.id)
            return row
        }
        model = TableModel(
            [.init("event"), .init("connector"), .init("operation"), .init("sent"), .init("last failure")],
            rows
        )
    }

    /// What the table says of an event, in which a search looks.
    static func row(_ record: OutboxRecord, at time: Timestamp) -> Row {
        let failure = record.attempts.last?.failure
        return Row(
            "\(record.event.id) \(record.path)",
            [
                StyledText(record.event.id, .link), StyledText(record.path),
                StyledText(record.event.kind.operation),
                StyledText("\(time.age(of: record.event.createdAt)) ago", .muted),
                failure.map { StyledText("\($0.code.rawValue): ", .bad) + StyledText($0.reason) } ?? "",
            ],
            link: .event(record.event.id)
        )
    }
}
