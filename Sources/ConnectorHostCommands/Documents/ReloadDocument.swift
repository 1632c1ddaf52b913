// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// How a reload of a running host ended.
struct ReloadDocument: Document {
    /// The end to show.
    var reload: Reload

    var json: JSONValue { reload.json }

    func lines(_ style: TextStyle) -> [String] {
        let errors = reload.errors.flatMap { ErrorLines(error: $0).lines(style) }
        let digest = style.paint("sha256 \(reload.digest.prefix(12))", .faint)
        guard reload.isActive else {
            let phase = reload.phase?.rawValue ?? ""
            return errors + [
                style.paint(style.sign(.bad), .bad)
                    + " nothing changed: the reload ended in the phase \(phase)  \(digest)"
            ] + offer(style)
        }
        var lines = errors
        if !reload.rolledBack.isEmpty {
            lines.append(
                "rolled back, and still as they were: \(style.shown(reload.rolledBack.joined(separator: ", ")))"
            )
        }
        if !reload.draining.isEmpty {
            lines.append(
                "earlier instances still finish calls: \(style.shown(reload.draining.joined(separator: ", ")))"
            )
        }
        let changed = reload.plan?.changes.count ?? 0
        let summary = changed == 0 ? "nothing to do" : "\(changed) changed, \(reload.plan?.kept.count ?? 0) kept"
        return lines + [style.paint(style.sign(.good), .good) + " active: \(summary)  \(digest)"]
    }

    /// The plan as it is now, if the one to apply no longer fits.
    private func offer(_ style: TextStyle) -> [String] {
        guard let plan = reload.plan, plan.basis != nil, reload.errors.first?.code == .conflict else { return [] }
        return ["", "the plan is now:"] + PlanDocument(plan: plan).lines(style)
    }
}
