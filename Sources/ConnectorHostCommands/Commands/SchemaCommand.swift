// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading

/// `connector-host schema`: prints the JSON Schema of the configuration, generated from the installed plugins.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the configuration, for editors.",
        discussion: """
            The schema is generated from the manifests of the installed plugins, so it knows the fields of every plugin's "config".
            Set "$schema" in the file to its path, and print it again after adding or removing plugins.

            Exit status: 0; 2 if the configuration cannot be read; 64 for wrong usage.

            Examples:
              connector-host schema > connectors.schema.json
            """
    )

    @OptionGroup var file: ConfigurationOption

    func run() async throws {
        let catalog = try file.catalog(ConnectorHost.Options(), answer: OutputOptions())
        let manifests = catalog.entries.compactMap(\.candidate?.manifest)
        let schema = ConfigurationSchema(manifests: manifests)
        StandardStream.output.writeLine(schema.json.serialized(pretty: true))
    }
}
