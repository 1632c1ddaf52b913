// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorManifest
internal import ConnectorSimulator

/// A page of the reference, generated from the schemas, definitions and help texts that the program itself uses.
enum ReferencePage: String, CaseIterable, Sendable {
    /// The keys of a plugin's manifest.
    case manifest
    /// The keys of `connectors.json`.
    case configuration
    /// The keys of a file of answers.
    case answers
    /// The operations of the standard capabilities, their payloads and events.
    case capabilities
    /// The help of every command.
    case commands
    /// The rules that plugins must keep.
    case conformance
    /// The metrics of the host.
    case metrics
    /// Every error code.
    case errors

    /// The page in Markdown, which ends with a line break.
    var text: String {
        let body =
            switch self {
            case .manifest: Self.manifestKeys
            case .configuration: Self.configurationKeys
            case .answers: Self.answersKeys
            case .capabilities: Self.capabilityPages
            case .commands: Self.commandPages
            case .conformance: Self.conformanceRules
            case .metrics: Self.metricTable
            case .errors: ErrorExplanation.page
            }
        return body + "\n"
    }

    private static var manifestKeys: String {
        let schema = SchemaTables(
            of: ManifestSchema.json,
            sections: [
                ("field", "A field of the configuration"), ("operation", "An operation"),
                ("standardOperation", "An operation of a standard capability"), ("use", "A use"), ("scene", "A scene"),
                ("component", "A component of a scene"), ("column", "A column of a component"),
            ],
            folded: ["capabilities"]
        )
        return """
            # Keys of a manifest

            A manifest is JSON: in the image of a plugin, or beside a foreign library as `NAME.connector.json`. `connector-host schema manifest`
            prints its JSON Schema. An unknown key is an error that names the nearest one; keys that begin with `$` are ignored.

            `capabilities` has an entry for each capability. For one of the [standard capabilities](capabilities.md) that is `{}` for every
            operation, an array of the names of some, or an object of operations, of which only what differs is written; `"except"` leaves some
            out. For a capability of the plugin's own it is an object of operations, each with symbol and signature; the name of one has 1 to 255
            bytes, without `/`, white space and invisible characters.

            \(schema.text(title: "The manifest"))
            """
    }

    private static var configurationKeys: String {
        let schema = SchemaTables(
            of: ConfigurationSchema(manifests: []).json,
            sections: [("connector", "A connector")]
        )
        return """
            # Keys of connectors.json

            [connectors.json](../configuration.md) explains what they are for. `connector-host schema` prints the JSON Schema, with the fields of
            the installed plugins. An unknown key is an error that names the nearest one; keys that begin with `$` are ignored.

            A *duration* is a number with a unit: `250ms`, `5s`, `2m`, `1h`. A *variable* is `${NAME}` or `${NAME:-default}`. A *secret* is one of
            the sources in [Variables and secrets](../configuration.md#variables-and-secrets).

            \(schema.text(title: "The file"))
            """
    }

    private static var answersKeys: String {
        let schema = SchemaTables(
            of: AnswersSchema.json,
            sections: [
                ("answer", "An answer"), ("operation", "An operation"), ("entry", "An entry of the timeline"),
                ("place", "A place"), ("kept", "A kept record"), ("error", "An error"),
            ]
        )
        return """
            # Keys of a file of answers

            A file of answers takes the place of a vendor, or of a plugin, under `--simulate`: see [Simulation](../configuration.md#simulation).
            `connector-host schema answers` prints its JSON Schema.

            \(schema.text(title: "The file"))
            """
    }
}
