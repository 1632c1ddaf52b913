// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The outcome of a reload of a running host.
struct ReloadDocument: Document {
    /// The outcome to show.
    var reload: Reload

    var json: JSONValue { reload.json }

    func lines(_ style: TextStyle) -> [String] {
        let errors = reload.errors.flatMap { ErrorLines(error: $0).lines(style) }
        let digest = style.paint("sha256 \(reload.digest.prefix(12))", .faint)
        // Connectors that were rolled back are in the plan, and have not changed.
        let changed = reload.plan?.changes.count { !reload.rolledBack.contains($0.path) } ?? 0
        guard reload.isActive else {
            let phase = reload.phase?.rawValue ?? ""
            // Only a swap whose image is not in use rolls anything back; it may take up other changes of the file.
            let outcome = reload.rolledBack.isEmpty || changed == 0 ? "nothing" : "only others"
            return errors + [
                style.paint(style.sign(.bad), .bad)
                    + " \(outcome) changed: the reload ended in the phase \(phase)  \(digest)"
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
        let kept = (reload.plan?.kept.count ?? 0) + reload.rolledBack.count
        let summary = reload.plan?.isEmpty ?? true ? "nothing to do" : "\(changed) changed, \(kept) kept"
        return lines + [style.paint(style.sign(.good), .good) + " active: \(summary)  \(digest)"]
    }

    /// The current plan, if the one to apply is out of date.
    private func offer(_ style: TextStyle) -> [String] {
        guard let plan = reload.plan, plan.basis != nil, reload.errors.first?.code == .conflict else { return [] }
        return ["", "the plan is now:"] + PlanDocument(plan: plan).lines(style)
    }
}
