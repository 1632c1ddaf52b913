// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorSimulator

/// `connector-host schema`: prints the JSON Schema of the configuration, generated from the installed plugins, or that of a file of answers.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the configuration, or of a file of answers, for editors.",
        discussion: """
            The schema of the configuration is generated from the manifests of the installed plugins, so it knows the fields of every plugin's "config".
            Set "$schema" in the file to its path, and print it again after adding or removing plugins. The schema of answers, which
            take the place of a vendor under --simulate, is always the same.

            Exit status: 0; 2 if the configuration cannot be read; 64 for wrong usage.

            Examples:
              connector-host schema > connectors.schema.json
              connector-host schema answers > answers.schema.json
            """
    )

    /// A format that has a schema.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case configuration
        case answers
    }

    @Argument(help: "The format: configuration or answers.")
    var format = Format.configuration

    @OptionGroup var file: ConfigurationOption

    func run() async throws {
        guard format == .configuration else {
            return StandardStream.output.writeLine(AnswersSchema.json.serialized(pretty: true))
        }
        let catalog = try file.catalog(ConnectorHost.Options(), answer: OutputOptions())
        let manifests = catalog.entries.compactMap(\.candidate?.manifest)
        let answers = AnswersSchema.json(at: ConfigurationSchema.answersPlace)
        let schema = ConfigurationSchema(manifests: manifests, answers: answers)
        StandardStream.output.writeLine(schema.json.serialized(pretty: true))
    }
}
