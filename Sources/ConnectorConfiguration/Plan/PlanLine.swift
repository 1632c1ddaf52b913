// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A line of a plan for people, like a line of a diff.
package struct PlanLine: Sendable, Hashable {
    /// What a line says.
    package enum Kind: Sendable, Hashable {
        /// A connector that is added.
        case addition
        /// A connector that is removed.
        case removal
        /// A connector that moves.
        case move
        /// A connector, or a setting of the file as a whole, that changes.
        case change
        /// A setting that only a restart changes.
        case restart
        /// More about the previous line.
        case detail
    }

    /// What the line says.
    package var kind: Kind
    /// The connector that it is about; empty for the file as a whole.
    package var path: String
    /// The text.
    package var text: String
    /// What the change costs; nil if that goes without saying.
    package var cost: String?

    /// The sign before the text; empty for a detail.
    package var sign: String {
        switch kind {
        case .addition: "+"
        case .removal: "-"
        case .move: ">"
        case .change: "~"
        case .restart: "!"
        case .detail: ""
        }
    }
}

extension Plan {
    /// The lines that people read: what needs a restart, settings, then each connector with its details.
    ///
    /// - Parameter arrow: The text between an old value and a new one.
    package func lines(arrow: String = "→") -> [PlanLine] {
        restarts.map { name in
            PlanLine(kind: .restart, path: "", text: "\(name): cannot change while the host runs; restart it")
        }
            + settings.map { PlanLine(kind: .change, path: "", text: $0.text(arrow)) }
            + changes.flatMap { $0.lines(arrow) }
    }

    /// How many connectors change, by kind, and how many are kept.
    package var summary: String {
        guard !isEmpty else {
            let connectors = kept.count == 1 ? "1 connector runs" : "\(kept.count) connectors run"
            return "nothing to do: \(connectors) as the file says"
        }
        let counts = [Kind.added, .changed, .moved, .removed].compactMap { kind in
            let count = changes.count { $0.kind == kind }
            return count > 0 ? "\(count) \(kind.rawValue)" : nil
        }
        return (counts + ["\(kept.count) kept"]).joined(separator: ", ")
    }
}

extension Plan.Change {
    fileprivate func lines(_ arrow: String) -> [PlanLine] {
        let lineKind: PlanLine.Kind =
            switch kind {
            case .added: .addition
            case .removed: .removal
            case .moved: .move
            default: .change
            }
        let first = PlanLine(
            kind: lineKind,
            path: path,
            text: path + (was.map { ", was \($0)" } ?? ""),
            cost: cost.text
        )
        var details = fields.map { $0.text(arrow) }
        if let events {
            let count = events.queued == 1 ? "1 waiting event" : "\(events.queued) waiting events"
            details.append("\(count): \(events.outcome.text)")
        }
        for (kind, names) in [
            ("hosts", wants.hosts), ("services", wants.services), ("capabilities", wants.capabilities),
        ] where !names.isEmpty {
            details.append("newly wants the \(kind) \(names.joined(separator: ", "))")
        }
        if let image {
            let left = image.staticTLSLeft.map { ", \($0) bytes of static TLS left" } ?? ""
            details.append("loads \(image.path), \((image.size + 1023) / 1024) KiB more\(left)")
        }
        return [first] + details.map { PlanLine(kind: .detail, path: path, text: $0) }
    }
}

extension Plan.Field {
    fileprivate func text(_ arrow: String) -> String {
        switch (from, to) {
        case (let from?, let to?): "\(name): \(from) \(arrow) \(to)"
        case (nil, let to?): "\(name): \(to), was not set"
        case (let from?, nil): "\(name): not set, was \(from)"
        case (nil, nil): name
        }
    }
}

extension Plan.Cost {
    fileprivate var text: String? {
        switch self {
        case .opens: "opens"
        case .opensBeside: "opens beside the one that runs"
        case .stopsFirst: "stops before the new one opens: calls fail meanwhile"
        case .closes: "closes"
        default: nil
        }
    }
}

extension Plan.Events.Outcome {
    fileprivate var text: String {
        switch self {
        case .move: "move to the new path"
        case .die: "become dead letters; outbox replay --to brings them over"
        default: "stay"
        }
    }
}
