// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost
internal import ConnectorHostTesting

/// The formats of the answer of `connector-host test`.
enum ConformanceFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    /// Version 14 of the Test Anything Protocol.
    case tap
    /// JUnit's XML, which build servers read.
    case junit
    case json
}

/// The findings of a check of a plugin's rules.
struct ConformanceDocument: Document {
    /// The findings.
    var report: ConformanceReport
    /// The options to repeat for checking one rule again.
    var again: [String]
    /// The plugin, as named in the arguments.
    var command: String
    /// Why the certificate could not be written; nil if it was written or not requested.
    var failure: ConnectorError?

    /// The duration beyond which a check gets a warning.
    private static let slow: Duration = .seconds(5)

    func lines(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        for theme in PluginConformance.Rule.Theme.allCases {
            let results = report.results.filter { $0.rule.theme == theme }
            guard !results.isEmpty else { continue }
            let kept = results.count { $0.verdict == .kept }
            let isBroken = results.contains { $0.verdict.isFailure }
            let mark: TextStyle.Mark = isBroken ? .bad : kept == 0 ? .none : .good
            let sign = style.paint(style.sign(mark), style.colour(mark))
            lines.append("\(sign) \(style.paint(theme.rawValue, .strong))  \(Self.counts(of: results))")
            for result in results { lines += details(result, style).map { "  " + $0 } }
        }
        return lines + [""] + summary(style)
    }

    private func details(_ result: ConformanceReport.Result, _ style: TextStyle) -> [String] {
        let id = style.paint(result.rule.id, .strong)
        switch result.verdict {
        case .kept:
            guard result.duration > Self.slow else { return [] }
            return [style.paint("warning: ", .warning) + "\(id) took \(result.duration.brief)"]
        case .inapplicable(let reason):
            guard !report.isWhole else { return [] }
            return [style.paint(style.sign(.none), .faint) + " \(id) does not apply: \(style.shown(reason))"]
        case .unchecked(let reason):
            return [style.paint(style.sign(.none), .faint) + " \(id) was not checked: \(style.shown(reason))"]
        case .broken, .crashed:
            var lines = [
                style.paint(style.sign(.bad), .bad) + " \(id) (level \(result.rule.level)): \(result.rule.title)"
            ]
            lines.append("    expected: \(result.rule.expectation)")
            lines += result.got.prefix(5).map { "    got: \(style.shown($0))" }
            if result.got.count > 5 { lines.append("    and \(result.got.count - 5) more") }
            if !result.calls.isEmpty {
                lines.append("    last calls:")
                lines += result.calls.map { "      " + style.shown($0) }
            }
            lines.append("    \(style.arrow) \(result.rule.fix)")
            lines.append("    again: \(style.shown(command(for: result)))")
            return lines
        }
    }

    private func summary(_ style: TextStyle) -> [String] {
        let rules = Self.counts(of: report.results)
        let sign = report.isPassed ? style.paint(style.sign(.good), .good) : style.paint(style.sign(.bad), .bad)
        let plugin = style.shown(report.plugin ?? report.path)
        let level = report.isWhole ? "level \(report.level) of \(report.strict); " : ""
        return ["\(sign) \(plugin): \(level)\(rules), in \(report.duration.brief)"]
    }

    /// How many rules have each verdict, without those that none has: `2 kept, 5 not applicable`.
    private static func counts(of results: [ConformanceReport.Result]) -> String {
        func count(_ text: String, _ isCounted: (ConformanceReport.Verdict) -> Bool) -> String? {
            let count = results.count { isCounted($0.verdict) }
            return count > 0 ? "\(count) \(text)" : nil
        }
        let counts = [
            count("kept") { $0 == .kept }, count("broken") { $0.isFailure },
            count("not applicable") { if case .inapplicable = $0 { true } else { false } },
            count("not checked") { if case .unchecked = $0 { true } else { false } },
        ]
        return counts.compactMap(\.self).joined(separator: ", ")
    }

    /// The command that checks a rule again, by repeating the check that found the fault.
    private func command(for result: ConformanceReport.Result) -> String {
        let words =
            ["connector-host", "test", command] + again
            + ["--only", result.foundBy ?? result.rule.id, "--seed", "\(report.seed)"]
        return CommandLineText.command(words)
    }

    // MARK: Machines

    var json: JSONValue {
        var object: JSONObject = [
            "version": 1, "path": .string(report.path), "strict": .integer(Int64(report.strict)),
            "passed": .bool(report.isPassed),
            "seed": .string("\(report.seed)"),
            "counts": [
                "kept": .integer(Int64(report.count { $0 == .kept })),
                "broken": .integer(Int64(report.count { $0.isFailure })),
                "inapplicable": .integer(Int64(report.count { if case .inapplicable = $0 { true } else { false } })),
                "unchecked": .integer(Int64(report.count { if case .unchecked = $0 { true } else { false } })),
            ],
        ]
        if report.isWhole { object["level"] = .integer(Int64(report.level)) }
        object["plugin"] = report.plugin.map(JSONValue.string)
        object["sha256"] = report.sha256.map(JSONValue.string)
        object["rules"] = .array(report.results.map(json))
        object["errors"] = failure.map { [$0.json] }
        return .object(object)
    }

    private func json(_ result: ConformanceReport.Result) -> JSONValue {
        var object: JSONObject = [
            "rule": .string(result.rule.id), "level": .integer(Int64(result.rule.level)),
            "verdict": .string(Self.name(result.verdict)),
            "milliseconds": .integer(Int64(result.duration / .milliseconds(1))),
        ]
        object["reason"] = Self.reason(result.verdict).map(JSONValue.string)
        guard result.verdict.isFailure else { return .object(object) }
        object["expected"] = .string(result.rule.expectation)
        object["got"] = .array(result.got.map(JSONValue.string))
        object["fix"] = .string(result.rule.fix)
        object["again"] = .string(command(for: result))
        if !result.calls.isEmpty { object["calls"] = .array(result.calls.map(JSONValue.string)) }
        if let crash = result.crash {
            var note: JSONObject = ["event": .string(crash.event)]
            note["function"] = crash.function.map(JSONValue.string)
            note["source"] = crash.source.map(JSONValue.string)
            object["crash"] = .object(note)
        }
        return .object(object)
    }

    private static func name(_ verdict: ConformanceReport.Verdict) -> String {
        switch verdict {
        case .kept: "kept"
        case .broken: "broken"
        case .crashed: "crashed"
        case .inapplicable: "inapplicable"
        case .unchecked: "unchecked"
        }
    }

    private static func reason(_ verdict: ConformanceReport.Verdict) -> String? {
        switch verdict {
        case .inapplicable(let reason), .unchecked(let reason): reason
        case .kept, .broken, .crashed: nil
        }
    }

    /// Why a rule was not checked if it counts as broken for that; nil otherwise.
    private static func problem(_ result: ConformanceReport.Result) -> String? {
        if case .unchecked(let reason) = result.verdict, !result.rule.mayBeUnchecked { reason } else { nil }
    }

    /// The report in the Test Anything Protocol.
    var tap: String {
        let style = TextStyle(isColoured: false, isUnicode: true)
        var text = "TAP version 14\n1..\(report.results.count)\n"
        for (index, result) in report.results.enumerated() {
            let problem = Self.problem(result)
            let isFine = !result.verdict.isFailure && problem == nil
            text += "\(isFine ? "ok" : "not ok") \(index + 1) - \(result.rule.id)"
            if isFine, let reason = Self.reason(result.verdict) { text += " # SKIP \(style.shown(reason))" }
            text += "\n"
            if let problem { text += "  ---\n  unchecked: \(JSONValue.string(problem))\n  ...\n" }
            guard result.verdict.isFailure else { continue }
            text += "  ---\n  expected: \(JSONValue.string(result.rule.expectation))\n"
            text += "  got: \(JSONValue.string(result.got.joined(separator: "; ")))\n"
            text += "  again: \(JSONValue.string(command(for: result)))\n  ...\n"
        }
        if report.isWhole, !report.isPassed { text += "# level \(report.level), not \(report.strict)\n" }
        return text
    }

    /// The report as JUnit's XML.
    var junit: String {
        let failures = report.count { $0.isFailure }
        let errors = report.results.count { Self.problem($0) != nil }
        let skipped = report.count { Self.reason($0) != nil } - errors
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuite name=\"\(Self.escaped(report.plugin ?? report.path))\" tests=\"\(report.results.count)\" "
        text += "failures=\"\(failures)\" errors=\"\(errors)\" skipped=\"\(skipped)\">\n"
        for result in report.results {
            let seconds = Double(Int64(result.duration / .milliseconds(1))) / 1000
            text +=
                "  <testcase classname=\"\(Self.escaped(result.rule.theme.rawValue))\" name=\"\(result.rule.id)\" time=\"\(seconds)\""
            if let problem = Self.problem(result) {
                text += "><error message=\"was not checked: \(Self.escaped(problem))\"/></testcase>\n"
            } else if let reason = Self.reason(result.verdict) {
                text += "><skipped message=\"\(Self.escaped(reason))\"/></testcase>\n"
            } else if result.verdict.isFailure {
                let lines =
                    ["expected: \(result.rule.expectation)"] + result.got.map { "got: \($0)" }
                    + result.calls.map { "call: \($0)" } + ["again: \(command(for: result))"]
                text += "><failure message=\"\(Self.escaped(result.rule.title))\">"
                text += lines.map(Self.escaped).joined(separator: "\n") + "</failure></testcase>\n"
            } else {
                text += "/>\n"
            }
        }
        return text + "</testsuite>\n"
    }

    /// A text of one line, escaped for XML and for the displays of those that read it.
    private static func escaped(_ text: String) -> String { XMLElement.escaped(text.displayed(isUnicode: true)) }
}
