// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorOutbox

/// The state of each connector's outbox.
struct QueueStatisticsDocument: Document {
    /// The statistics of each connector's queue, by path.
    var statistics: [String: QueueStatistics]

    func lines(_ style: TextStyle) -> [String] {
        guard !statistics.isEmpty else { return [style.paint("no events sent yet", .faint)] }
        var table = Table()
        table.append(
            ["connector", "waiting", "oldest", "dead", "delivered", "last", "dropped"].map { .init($0, .faint) }
        )
        for (path, queue) in statistics.sorted(by: { $0.key < $1.key }) {
            table.append([
                Table.Cell(style.shown(path), .strong),
                Table.Cell("\(queue.queued)", queue.queued > 0 ? style.colour(.warning) : nil),
                Table.Cell(queue.oldest?.description ?? "-"),
                Table.Cell("\(queue.dead)", queue.dead > 0 ? style.colour(.bad) : nil),
                Table.Cell("\(queue.delivered)"),
                Table.Cell(queue.lastDelivered?.description ?? "-"),
                Table.Cell("\(queue.dropped)"),
            ])
        }
        return table.lines(style)
    }

    var json: JSONValue {
        OutboxDocument.statistics(statistics)
    }
}

/// One event, at each connector that receives it.
struct EventRecordDocument: Document {
    /// The event's records, at least one.
    var records: [OutboxRecord]
    /// Whether to show the payload.
    var showsPayload: Bool

    func lines(_ style: TextStyle) -> [String] {
        guard let first = records.first else { return [] }
        var lines = [
            style.paint(style.shown(first.event.id), .strong)
                + "  \(style.shown(first.event.kind.description)), sent \(first.event.createdAt)"
        ]
        if showsPayload {
            let value = try? JSONValue(parsing: first.event.payload, file: "")
            lines += style.lines(of: value ?? .null).map { "  " + $0 }
        }
        for record in records {
            let due = record.due.map { ", next attempt \($0)" } ?? ""
            lines.append("\(style.shown(record.path)): \(record.state.rawValue)\(due)")
            if record.attempts.isEmpty {
                lines.append("  " + style.paint(record.state == .queued ? "no attempt yet" : "no attempt", .faint))
            }
            lines += record.attempts.map { "  " + $0.line(style) }
        }
        return lines
    }

    var json: JSONValue { OutboxDocument.event(records, showsPayload: showsPayload) }
}

extension PastAttempt {
    /// One attempt, or several with the same outcome, as a line.
    func line(_ style: TextStyle) -> String {
        let time = count == 1 ? "\(at)" : "\(at) to \(until), \(count) attempts"
        guard let failure else { return "\(time): \(style.paint("delivered", .good))" }
        return "\(time): \(style.paint(style.shown(failure.code.rawValue), .bad)): \(style.shown(failure.reason))"
    }
}

/// Dead letters.
struct DeadLettersDocument: Document {
    /// The letters, oldest first.
    var records: [OutboxRecord]
    /// The cursor of the next page; nil for the last page.
    var next: RecordCursor?

    func lines(_ style: TextStyle) -> [String] {
        guard !records.isEmpty else { return [style.paint("no dead letters", .faint)] }
        var table = Table()
        for record in records {
            let failure = record.attempts.last?.failure
            table.append([
                Table.Cell(style.shown(record.event.id), .strong),
                Table.Cell(style.shown(record.path)),
                Table.Cell(style.shown(record.event.kind.operation)),
                Table.Cell(style.shown(failure.map { "\($0.code): \($0.reason)" } ?? ""), style.colour(.bad)),
            ])
        }
        let more = next.map { "there may be more: --after \(style.shown($0.description))" }
        return table.lines(style) + [more].compactMap(\.self)
    }

    var json: JSONValue { OutboxDocument.dead(records, next: next) }
}

/// The number of things that a command acted on.
struct CountDocument: Document {
    /// The verb, such as `replayed`.
    var verb: String
    /// The number of things.
    var count: Int
    /// The noun in the singular.
    var noun: String
    /// The ids that belong to none.
    var unknown: [String] = []
    /// Says which dead letters a replay leaves; nil if it leaves none.
    var left: ConnectorError?

    /// The errors for the unknown ids, and for the letters that are left.
    var errors: [ConnectorError] {
        let error = unknown.isEmpty ? nil : OutboxDocument.unknown(unknown, queued: noun == "event")
        return [error, left].compactMap(\.self)
    }

    func lines(_ style: TextStyle) -> [String] { ["\(verb) \(count) \(noun)\(count == 1 ? "" : "s")"] }

    var json: JSONValue { OutboxDocument.count(verb, count, errors: errors) }
}
