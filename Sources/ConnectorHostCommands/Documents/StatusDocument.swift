// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The report of a host, as a tree.
struct StatusDocument: Document {
    /// The report to show.
    var report: Report
    /// The total time to open the gates; zero if another process sent the report.
    var duration: Duration = .zero
    /// The process that sent the report; nil for this one.
    var process: Int64?
    /// The path of the configuration. Positions in it are not printed, because the tree shows the connector.
    var file = ""
    /// Whether the timeout for all gates expired before they opened.
    var isCutShort = false
    /// The note of a crash of an earlier command; nil for none.
    var lastCrash: CrashNote?

    /// The report's own document, with the note.
    var json: JSONValue {
        guard let lastCrash, var object = report.json.object else { return report.json }
        object["lastCrash"] = JSONValue.object([
            "event": .string(lastCrash.event),
            "command": lastCrash.command.map(JSONValue.string) ?? .null,
            "process": lastCrash.process.map(JSONValue.integer) ?? .null,
            "plugin": lastCrash.plugin.map(JSONValue.string) ?? .null,
            "gates": lastCrash.gates.map(JSONValue.string) ?? .null,
            "path": lastCrash.path.map(JSONValue.string) ?? .null,
            "offset": lastCrash.offset.map(JSONValue.string) ?? .null,
            "function": lastCrash.function.map(JSONValue.string) ?? .null,
            "source": lastCrash.source.map(JSONValue.string) ?? .null,
            "time": .string(lastCrash.time.description),
            "address": lastCrash.address.map(JSONValue.string) ?? .null,
            "thread": lastCrash.thread.map(JSONValue.integer) ?? .null,
            "frames": .array(
                lastCrash.frames.map { frame in
                    var object: JSONObject = ["file": .string(frame.file), "offset": .string(frame.offset)]
                    object["function"] = frame.function.map(JSONValue.string)
                    object["source"] = frame.source.map(JSONValue.string)
                    return .object(object)
                }
            ),
        ])
        return .object(object)
    }

    func lines(_ style: TextStyle) -> [String] {
        let branches = Branch.all(of: report)
        var table = Table()
        for branch in branches {
            let gate = branch.gate
            table.append([
                label(of: branch, style), subject(of: gate, style), time(of: gate, style), proof(of: gate, style),
            ])
            for line in notes(on: gate, style) {
                table.append(note: style.paint(branch.continuation(style), .faint) + "  " + line)
            }
        }
        let crash = lastCrash.map { crash in
            style.paint("previously, ", .warning) + style.shown("\(crash) (\(crash.time))")
        }
        return [crash].compactMap(\.self) + table.lines(style) + (branches.isEmpty ? [] : [""])
            + configuration(style) + outbox(style)
            + (report.unusedImagesText.map { [style.paint($0, .faint)] } ?? []) + [summary(style)]
    }

    private func label(of branch: Branch, _ style: TextStyle) -> Table.Cell {
        let mark = branch.gate.mark
        return Table.Cell([
            (branch.guide(style), .faint),
            (style.sign(mark) + " ", style.colour(mark)),
            (style.shown(branch.name), branch.gate.policy == nil ? nil : .strong),
            (isOptional(branch.gate) ? " (optional)" : "", .faint),
        ])
    }

    /// Whether to mark a connector as optional: the host is ready without it, and its composite does not already imply that
    /// by being optional itself or by having children that stand in for each other.
    private func isOptional(_ gate: GateReport) -> Bool {
        guard !gate.isRequired else { return false }
        guard let slash = gate.path.lastIndex(of: "/"), let parent = report[String(gate.path[..<slash])] else {
            return true
        }
        return parent.isRequired && !["first", "fastest"].contains(parent.policy) && parent.quorum == nil
    }

    private func subject(of gate: GateReport, _ style: TextStyle) -> Table.Cell {
        if let policy = gate.policy {
            let quorum = gate.quorum.map { ", \($0) needed" } ?? ""
            return Table.Cell(style.shown(policy) + quorum, .faint)
        }
        return Table.Cell([
            (gate.plugin.map { style.shown("\($0)") } ?? "", nil), (gate.isSimulated ? " (simulated)" : "", .faint),
            (
                gate.isolation == .process ? " (in a runner\(gate.standby.map { ", standby \($0.state)" } ?? ""))" : "",
                .faint
            ),
        ])
    }

    private func time(of gate: GateReport, _ style: TextStyle) -> Table.Cell {
        guard gate.policy == nil, let duration = gate.openDuration else { return "" }
        return Table.Cell(style.shown(duration.brief), .faint)
    }

    private func proof(of gate: GateReport, _ style: TextStyle) -> Table.Cell {
        let mark = gate.mark
        guard gate.policy == nil, gate.state.isUsable, let evidence = gate.strongestEvidence else {
            let tries = gate.attempts > 1 ? " after \(gate.attempts) attempts" : ""
            return Table.Cell(gate.state.rawValue + tries, mark == .good ? .faint : style.colour(mark))
        }
        let state = gate.state == .open ? "" : "\(gate.state.rawValue), was "
        return Table.Cell([
            (state + evidence.kind.rawValue, gate.state == .open ? nil : style.colour(mark)),
            (evidence.detail.isEmpty ? "" : "  \(style.shown(evidence.detail))", .faint),
        ])
    }

    /// The notes below a gate, such as its error and the remedy, its other places, the connectors that it uses, its sandbox, its
    /// warnings, its calls and its outbox.
    private func notes(on gate: GateReport, _ style: TextStyle) -> [String] {
        var lines: [String] = []
        if var error = gate.error {
            let occasion = gate.hasFailedDelivery ? Remedy.Occasion.delivery : isCutShort ? .cutShort : .opening
            let isLocal = gate.plugin?.isLocal ?? false
            if gate.isolation == .process {
                error.fix = error.fix ?? Remedy.inRunner(for: error, of: occasion, isLocal: isLocal)
            }
            let text = ErrorLines(error: error, occasion: occasion, isLocal: isLocal)
            lines += [text.locatedHeadline(style, besides: file)] + text.details(style)
        }
        if !gate.places.isEmpty { lines.append("also at \(gate.places.map(style.shown).joined(separator: ", "))") }
        if !gate.uses.isEmpty {
            lines.append("uses \(gate.usedConnectors.map(style.shown).joined(separator: ", "))")
        }
        if let promotion = gate.promotion { lines.append(style.paint(style.shown(promotion.text), .warning)) }
        if let sandbox = gate.sandbox, let confinement = gate.confinement {
            let colour: TextStyle.Colour =
                switch confinement {
                case .whole: .faint
                case .partial: .warning
                case .none: .bad
                }
            lines.append(style.paint(style.shown(sandbox), colour))
        }
        if let breaker = gate.breaker, breaker.state != .closed || breaker.openings > 0 {
            lines.append("breaker: " + style.paint(breaker.text, breaker.state == .closed ? nil : .warning))
        }
        lines += gate.warnings.map { style.paint("warning: ", .warning) + style.shown($0) }
        if let calls = gate.calls {
            lines.append("\(calls.total) \(calls.total == 1 ? "call" : "calls"), \(calls.failures) failed")
            if let error = calls.lastFailure {
                lines.append("last failure: \(ErrorLines(error: error).headline(style))")
            }
        }
        if let outbox = gate.outbox, outbox.queued + outbox.dead + outbox.dropped > 0 {
            let since = outbox.oldest.map { ", the oldest since \($0)" } ?? ""
            let dead = outbox.dead > 0 ? ", \(outbox.dead) dead" : ""
            let dropped = outbox.dropped > 0 ? ", \(outbox.dropped) dropped" : ""
            let next = outbox.nextAttemptAt.map { ", next attempt \($0)" } ?? ""
            lines.append("outbox: \(outbox.queued) waiting\(since)\(dead)\(dropped)\(next)")
        }
        return lines
    }

    /// Why what runs is not what the file says; empty if it is.
    private func configuration(_ style: TextStyle) -> [String] {
        (report.configuration?.errors ?? []).flatMap { error in
            let text = ErrorLines(error: error)
            let head = style.paint("the file is not what runs: ", .warning) + text.locatedHeadline(style, besides: "")
            return [head] + text.details(style).map { "    " + $0 }
        }
    }

    /// The reason that events cannot be stored, and the remedy; empty if they can.
    private func outbox(_ style: TextStyle) -> [String] {
        guard let error = report.outboxError else { return [] }
        let text = ErrorLines(error: error)
        return [style.paint("error: ", .bad) + text.headline(style)] + text.details(style).map { "    " + $0 }
    }

    private func summary(_ style: TextStyle) -> String {
        let leaves = report.gates.filter { $0.policy == nil }
        let open = leaves.count { $0.state == .open }
        let readiness = report.isReady ? style.paint("ready", .good) : style.paint("not ready", .bad)
        let gates = leaves.count == 1 ? "gate" : "gates"
        let source = process.map { "reported by process \($0)" } ?? style.shown(duration.brief)
        return "\(readiness): \(open) of \(leaves.count) \(gates) open, \(source)"
    }
}

extension GateReport {
    /// Whether the error is why the outbox's events are not delivered.
    fileprivate var hasFailedDelivery: Bool {
        guard let error, let outbox else { return false }
        return outbox.code == error.code && outbox.failure == error.message
    }

    /// The mark of the gate's state; that of an optional gate is never bad.
    fileprivate var mark: TextStyle.Mark {
        switch state {
        case .open: .good
        case .degraded: .warning
        case .failed: isRequired ? .bad : .warning
        case .closed, .opening, .closing: isRequired && target == .open ? .bad : .none
        }
    }
}
