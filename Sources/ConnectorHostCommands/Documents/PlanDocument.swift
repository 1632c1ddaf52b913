// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// A plan, printed like a difference.
struct PlanDocument: Document {
    /// The plan to show.
    var plan: Plan

    var json: JSONValue { plan.json }

    func lines(_ style: TextStyle) -> [String] {
        guard !plan.isEmpty else {
            return [style.paint("nothing to do: \(Self.connectors(plan.kept.count)) as the file says", .faint)]
        }
        var lines = plan.restarts.map { name in
            style.paint("! ", .bad) + style.shown(name) + ": cannot change while the host runs; restart it"
        }
        lines += plan.settings.map { style.paint("~ ", .warning) + field($0, style) }
        lines += plan.changes.flatMap { change($0, style) }
        return lines + [summary]
    }

    private func change(_ change: Plan.Change, _ style: TextStyle) -> [String] {
        let (sign, colour): (String, TextStyle.Colour) =
            switch change.kind {
            case .added: ("+", .good)
            case .removed: ("-", .bad)
            case .moved: (">", .warning)
            default: ("~", .warning)
            }
        var line = style.paint("\(sign) \(style.shown(change.path))", colour)
        if let was = change.was { line += ", was \(style.shown(was))" }
        if let cost = Self.cost(change) { line += style.paint("  \(cost)", .faint) }
        var lines = [line]
        lines += change.fields.map { "    " + field($0, style) }
        if let events = change.events {
            let count = events.queued == 1 ? "1 waiting event" : "\(events.queued) waiting events"
            lines.append("    \(count): \(Self.outcome(events.outcome))")
        }
        for (kind, names) in [
            ("hosts", change.wants.hosts), ("services", change.wants.services),
            ("capabilities", change.wants.capabilities),
        ] where !names.isEmpty {
            lines.append("    newly wants the \(kind) \(style.shown(names.joined(separator: ", ")))")
        }
        if let image = change.image {
            let left = image.staticTLSLeft.map { ", \($0) bytes of static TLS left" } ?? ""
            lines.append("    loads \(style.shown(image.path)), \((image.size + 1023) / 1024) KiB more\(left)")
        }
        return lines
    }

    private func field(_ field: Plan.Field, _ style: TextStyle) -> String {
        let (from, to) = (field.from.map(style.shown), field.to.map(style.shown))
        let value =
            switch (from, to) {
            case (let from?, let to?): "\(from) \(style.arrow) \(to)"
            case (nil, let to?): "\(to), was not set"
            case (let from?, nil): "not set, was \(from)"
            case (nil, nil): ""
            }
        return "\(style.shown(field.name)): \(value)"
    }

    private static func cost(_ change: Plan.Change) -> String? {
        switch change.cost {
        case .opens: "opens"
        case .opensBeside: "opens beside the one that runs"
        case .stopsFirst: "stops before the new one opens: calls fail meanwhile"
        case .closes: "closes"
        default: nil
        }
    }

    private static func outcome(_ outcome: Plan.Events.Outcome) -> String {
        switch outcome {
        case .move: "move to the new path"
        case .die: "become dead letters; outbox replay --to brings them over"
        default: "stay"
        }
    }

    private var summary: String {
        let counts = [Plan.Kind.added, .changed, .moved, .removed].compactMap { kind in
            let count = plan.changes.count { $0.kind == kind }
            return count > 0 ? "\(count) \(kind.rawValue)" : nil
        }
        return (counts + ["\(plan.kept.count) kept"]).joined(separator: ", ")
    }

    private static func connectors(_ count: Int) -> String {
        count == 1 ? "1 connector runs" : "\(count) connectors run"
    }
}
