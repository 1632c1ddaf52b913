// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorManifest

extension ReferencePage {
    /// The standard capabilities with their operations, payloads and events.
    static var capabilityPages: String {
        let pages = CapabilityDefinition.all.map { definition in
            ([heading(of: definition)] + definition.operations.map { operation(in: definition, $0) }
                + events(of: definition)).joined(separator: "\n\n")
        }
        return """
            # Capabilities

            The operations that plugins of a standard capability have, all or some of them. `json` is one JSON value, `?` marks what may be
            left out, and the operation itself is asynchronous where it says `async`. [Plugins](../plugins.md) explains how to call them.

            `NAME=VALUE` on the command line must name a member of the table. In JSON, other members of events and crash reports are dropped, so
            that events made for another API pass; those of other models are refused.

            \(pages.joined(separator: "\n\n"))
            """
    }

    private static func heading(of definition: CapabilityDefinition) -> String {
        "## \(definition.id)\n\n\(definition.documentation)"
    }

    private static func operation(
        in definition: CapabilityDefinition,
        _ operation: CapabilityDefinition.OperationDefinition
    ) -> String {
        var notes = [operation.documentation]
        if operation.isDelivered { notes.append("Its calls are events, which the outbox stores and delivers.") }
        if operation.isSafe { notes.append("It only reads.") }
        if let loss = operation.loss { notes.append(loss) }
        var parts = [
            "### `\(definition.id)` `\(operation.name)`", "```\n\(operation.name)\(operation.signature)\n```",
            notes.joined(separator: " "),
        ]
        let members = ModelMember.members(of: operation.name, in: definition.id)
        if !members.isEmpty {
            parts += [
                (["| member | value | meaning |", "|---|---|---|"] + rows(of: members)).joined(separator: "\n"),
                block("A sample", ModelMember.sample(of: members)),
                block("The JSON Schema", ModelMember.schema(of: members)),
            ]
        }
        if let result = CapabilitySample.result(of: operation.name, in: definition.id) {
            parts.append(block("A result", result))
        }
        return parts.joined(separator: "\n\n")
    }

    private static func events(of definition: CapabilityDefinition) -> [String] {
        CapabilitySample.events(of: definition.id).map { event in
            "### The event `\(event.name)`\n\n" + block("A payload", event.payload)
        }
    }

    private static func block(_ title: String, _ value: JSONValue) -> String {
        "\(title):\n\n```json\n\(value.serialized(pretty: true))\n```"
    }

    /// The rows of members, each followed by those of the objects in its value.
    private static func rows(of members: [ModelMember], below path: String = "") -> [String] {
        members.flatMap { member in
            let (name, inner) = (path + member.name, member.kind.inner)
            let text = member.isRequired ? "\(member.help) (required)" : member.help
            return [MarkdownTable.row(["`\(name)`", kind(of: member.kind), text])]
                + rows(of: inner.members, below: "\(name)\(inner.path).")
        }
    }

    private static func kind(of kind: ModelMember.Kind, areMany: Bool = false) -> String {
        let plural = areMany ? "s" : ""
        return switch kind {
        case .text: "string\(plural)"
        case .number: "number\(plural)"
        case .boolean: "boolean\(plural)"
        case .scalar: areMany ? "values" : "string, number, boolean or null"
        case .choice(let words): words.map { "`\"\($0)\"`" }.joined(separator: ", ")
        case .object: "object\(plural)"
        case .map(let kind): "object\(plural) of \(Self.kind(of: kind, areMany: true))"
        case .array(let kind, _): "array\(plural) of \(Self.kind(of: kind, areMany: true))"
        case .either(let kinds): kinds.map { Self.kind(of: $0, areMany: areMany) }.joined(separator: " or ")
        }
    }
}
