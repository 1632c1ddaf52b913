// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorSimulator

/// `connector-host schema`: prints the JSON Schema of the configuration, generated from the installed plugins, or the schema of a
/// manifest or of a file of answers.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the configuration, of a manifest, or of a file of answers, for editors.",
        discussion: """
            The schema of the configuration is generated from the manifests of the installed plugins, so it knows the fields of every plugin's "config". \
            Set "$schema" in the file to its path, and print it again after adding or removing plugins. The schemas of a manifest, and of \
            answers, which take the place of a vendor under --simulate, are always the same.

            Exit status: 0; 2 if the configuration cannot be read; 64 for wrong usage.

            Examples:
              connector-host schema > connectors.schema.json
              connector-host schema manifest > manifest.schema.json
              connector-host schema answers > answers.schema.json
            """
    )

    /// A format that has a schema.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case configuration
        case manifest
        case answers
    }

    @Argument(help: "The format: configuration, manifest or answers.")
    var format = Format.configuration

    @OptionGroup var file: ConfigurationOption

    func run() async throws {
        let schema =
            switch format {
            case .configuration: try configurationSchema()
            case .manifest: ManifestSchema.json
            case .answers: AnswersSchema.json
            }
        StandardStream.output.writeLine(schema.serialized(pretty: true))
    }

    private func configurationSchema() throws -> JSONValue {
        let catalog = try file.lookup(ConnectorHost.Options(), answer: OutputOptions(isJSON: false)).everything
        let manifests = catalog.entries.compactMap(\.candidate?.manifest)
        let answers = AnswersSchema.json(at: ConfigurationSchema.answersReference)
        return ConfigurationSchema(manifests: manifests, answers: answers).json
    }
}
