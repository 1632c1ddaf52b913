// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorControl
internal import ConnectorManifest
internal import ConnectorOutbox

/// How the outbox of each connector stands.
struct StandingsDocument: Document {
    /// The standings by path.
    var standings: [String: Standing]

    func lines(_ style: TextStyle) -> [String] {
        guard !standings.isEmpty else { return [style.paint("nothing was sent yet", .faint)] }
        var table = Table()
        table.append(
            ["connector", "waiting", "oldest", "dead", "delivered", "last", "dropped"].map { .init($0, .faint) }
        )
        for (path, standing) in standings.sorted(by: { $0.key < $1.key }) {
            table.append([
                Table.Cell(style.shown(path), .strong),
                Table.Cell("\(standing.queued)", standing.queued > 0 ? style.colour(.warning) : nil),
                Table.Cell(standing.oldest?.description ?? "-"),
                Table.Cell("\(standing.dead)", standing.dead > 0 ? style.colour(.bad) : nil),
                Table.Cell("\(standing.delivered)"),
                Table.Cell(standing.lastDelivered?.description ?? "-"),
                Table.Cell("\(standing.dropped)"),
            ])
        }
        return table.lines(style)
    }

    var json: JSONValue {
        OutboxDocument.standings(standings)
    }
}

/// One event at each connector that gets it.
struct EventRecordDocument: Document {
    /// What is known; at least one record.
    var records: [OutboxRecord]
    /// Whether to show the event itself.
    var showsPayload: Bool

    func lines(_ style: TextStyle) -> [String] {
        guard let first = records.first else { return [] }
        var lines = [
            style.paint(style.shown(first.event.id), .strong)
                + "  \(style.shown(first.event.lane.description)), sent \(first.event.createdAt)"
        ]
        if showsPayload {
            let value = try? JSONValue(parsing: first.event.payload, file: "")
            lines += (value ?? .null).serialized(pretty: true).split(separator: "\n").map {
                "  " + style.shown(String($0))
            }
        }
        for record in records {
            let due = record.due.map { ", next attempt \($0)" } ?? ""
            lines.append("\(style.shown(record.target)): \(record.state.rawValue)\(due)")
            if record.attempts.isEmpty { lines.append("  " + style.paint("no attempt yet", .faint)) }
            lines += record.attempts.map { "  " + $0.line(style) }
        }
        return lines
    }

    var json: JSONValue { OutboxDocument.event(records, showsPayload: showsPayload) }
}

extension PastAttempt {
    /// The attempt, or several equal ones, on a line.
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
    /// The place after which there may be more; nil if these are the last.
    var next: RecordPlace?

    func lines(_ style: TextStyle) -> [String] {
        guard !records.isEmpty else { return [style.paint("no dead letters", .faint)] }
        var table = Table()
        for record in records {
            let failure = record.attempts.last?.failure
            table.append([
                Table.Cell(style.shown(record.event.id), .strong),
                Table.Cell(style.shown(record.target)),
                Table.Cell(style.shown(record.event.lane.operation)),
                Table.Cell(style.shown(failure.map { "\($0.code): \($0.reason)" } ?? ""), style.colour(.bad)),
            ])
        }
        let more = next.map { "there may be more: --after \(style.shown($0.description))" }
        return table.lines(style) + [more].compactMap(\.self)
    }

    var json: JSONValue { OutboxDocument.dead(records, next: next) }
}

/// How many things a command acted on.
struct CountDocument: Document {
    /// What was done, such as `replayed`.
    var verb: String
    /// To how many.
    var count: Int
    /// What they are, in the singular.
    var noun: String

    func lines(_ style: TextStyle) -> [String] { ["\(verb) \(count) \(noun)\(count == 1 ? "" : "s")"] }

    var json: JSONValue { OutboxDocument.count(verb, count) }
}
