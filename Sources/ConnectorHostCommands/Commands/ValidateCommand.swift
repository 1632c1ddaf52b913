// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// `connector-host validate`: checks a configuration and the plugins it names, without opening a gate.
struct ValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Report every fault of a configuration, without opening a gate.",
        discussion: """
            One pass reports every fault, with line and column. A plugin that is present but not usable is a warning: its gate
            would fail, and the others would open.

            Exit status: 0 if the configuration is valid, 2 if it is not, 64 for wrong usage.

            Examples:
              connector-host validate
              connector-host validate --config staging.json --json
            """
    )

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let options = ConnectorHost.Options()
        let (resolved, _) = try answer.checked { () throws(ConfigurationErrors) in try file.resolve(options) }
        answer.output.write(ValidationDocument(resolved: resolved))
    }
}
