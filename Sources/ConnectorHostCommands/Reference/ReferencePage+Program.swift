// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost

extension ReferencePage {
    /// The help of every command.
    static var commandPages: String {
        let commands = ConnectorHostCommand.configuration.subcommands.flatMap { pages(of: $0, below: "connector-host") }
        return """
            # Commands

            What `connector-host COMMAND --help` prints. [Commands](../commands.md) describes what they have in common.

            \(commands.joined(separator: "\n\n"))
            """
    }

    private static func pages(of command: any ParsableCommand.Type, below path: String) -> [String] {
        let name = "\(path) \(command._commandName)"
        let lines = ConnectorHostCommand.helpMessage(for: command, columns: 120)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0.reversed().drop { $0 == " " }.reversed()) }
        let text = lines.joined(separator: "\n")
        return ["## \(name)\n\n```\n\(text)\n```"]
            + command.configuration.subcommands.flatMap { pages(of: $0, below: name) }
    }

    /// The metrics of the host.
    static var metricTable: String {
        let rows = MetricDefinition.all.map { metric in
            let path = metric.isOfHost ? [] : [MetricDefinition.pathAttribute]
            let attributes = (path + metric.attributes).map { "`\($0)`" }
            return
                "| `\(metric.name)` | `\(metric.prometheusName)` | \(metric.kind.rawValue) | `\(metric.unit)` | \(metric.help) | \(attributes.joined(separator: ", ")) |"
        }
        return """
            # Metrics

            `host.prometheusText` and `/metrics` have them under the second name, an application's metrics system under the first. Units are codes
            of UCUM. Every series of a simulated connector also has `\(MetricDefinition.simulatedAttribute)`; `error.type` is the code of an
            error, and absent on success. Operations that no manifest has are counted as `\(MetricDefinition.other)`, and so are a connector's
            codes after the first \(ConnectorError.Code.countLimit).

            | name | in Prometheus | kind | unit | what | attributes |
            |---|---|---|---|---|---|
            \(rows.joined(separator: "\n"))
            """
    }
}
