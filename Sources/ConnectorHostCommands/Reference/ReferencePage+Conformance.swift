// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHostTesting

extension ReferencePage {
    /// The rules of `connector-host test`, generated from the rules themselves.
    static var conformanceRules: String {
        let rules = PluginConformance.Rule.all
        var lines = [
            "# Conformance", "",
            "`connector-host test FILE` checks a plugin against the \(rules.count) rules of this page, each in a process of its own, and "
                + "names its level: it has a level if it keeps every rule up to it. A rule that cannot be checked, because no vendor "
                + "answers, counts as broken; one that says nothing about the plugin does not. Only rules about runners and the sandbox may "
                + "be left out where the system has none. How long something takes never fails.", "",
            "Level 5 needs no vendor, and is what `connector-host test` asks for. Higher levels open the gate: against a simulator "
                + "that comes with the host, against `--answers FILE`, or against the server for tests that `--config` names. "
                + "`--certify` writes the level into `conformance.json` beside the image; `inspect` and `plugins` show it as long as the "
                + "bytes are the same.", "",
            "A failure has the rule, what was expected, what came, and the command that checks it again: `--only RULE --seed N`. After a "
                + "crash it has the last calls, the signal, and the function and line in the source. `PluginConformance` of "
                + "`ConnectorHostTesting` checks the same rules in a test in Swift, but for those about a whole process.",
            "",
            "`--format tap|junit|json` is for machines. `--unsealed` loads the image from its own file, for debuggers and profilers, and "
                + "`--watch` checks again whenever the file changes.",
        ]
        for theme in PluginConformance.Rule.Theme.allCases {
            lines += [
                "", "## \(theme.rawValue)", "", "| rule | level | what a plugin does | what to do |",
                "|---|---|---|---|",
            ]
            for rule in rules where rule.theme == theme {
                lines.append(MarkdownTable.row(["`\(rule.id)`", "\(rule.level)", rule.expectation, rule.fix]))
            }
        }
        return lines.joined(separator: "\n")
    }
}
