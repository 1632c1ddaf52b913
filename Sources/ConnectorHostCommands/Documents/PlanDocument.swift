// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost

/// A plan, printed like a diff.
struct PlanDocument: Document {
    /// The plan to show.
    var plan: Plan

    var json: JSONValue { plan.json }

    func lines(_ style: TextStyle) -> [String] {
        guard !plan.isEmpty else { return [style.paint(plan.summary, .faint)] }
        return plan.lines(arrow: style.arrow).map { text($0, style) } + [plan.summary]
    }

    private func text(_ line: PlanLine, _ style: TextStyle) -> String {
        let text = style.shown(line.text)
        guard let colour = Self.colour(line.kind) else { return "    " + text }
        // A setting of the whole file is not painted, because it may be long.
        let head =
            line.path.isEmpty
            ? style.paint("\(line.sign) ", colour) + text : style.paint("\(line.sign) \(text)", colour)
        return head + (line.cost.map { style.paint("  \($0)", .faint) } ?? "")
    }

    private static func colour(_ kind: PlanLine.Kind) -> TextStyle.Colour? {
        switch kind {
        case .addition: .good
        case .removal, .restart: .bad
        case .move, .change: .warning
        case .detail: nil
        }
    }
}
