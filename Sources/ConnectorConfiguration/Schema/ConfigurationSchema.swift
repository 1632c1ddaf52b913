// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The JSON Schema (draft 2020-12) of `connectors.json`, with the plugins' manifests: editors complete and validate each
/// plugin's `config`.
///
/// It accepts what the host accepts, as far as a schema can express it. Only the host checks that names are unique, that
/// `after` and `with` refer to connectors, and that variables are set.
package struct ConfigurationSchema: Sendable {
    /// Every version of each plugin, highest first, by id.
    private let plugins: [(id: String, versions: [Manifest])]
    private let answers: JSONValue

    /// The reference to the schema of answers, within the schema of the configuration.
    package static let answersReference = "#/$defs/answers"

    /// Creates a schema from the manifests of all usable plugins; a plugin may have several versions.
    ///
    /// - Parameter answers: The schema of the answers in a connector itself; its own references begin with
    ///   ``answersReference``.
    package init(manifests: [Manifest], answers: JSONValue = ["type": "object"]) {
        self.answers = answers
        var versions: [String: [Manifest]] = [:]
        for manifest in manifests
        where versions[manifest.id]?.contains(where: { $0.version == manifest.version }) != true {
            versions[manifest.id, default: []].append(manifest)
        }
        plugins = versions.sorted { $0.key < $1.key }.map { id, manifests in
            (id, manifests.sorted { $0.version > $1.version })
        }
    }

    /// The schema as JSON.
    package var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Connectors",
            "description": "The third-party integrations of an application, as a tree of connectors.",
            "type": "object",
            "properties": [
                "version": [
                    "const": .integer(Configuration.formatVersion), "description": "The version of the format.",
                ],
                "name": [
                    "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$",
                    "description":
                        "The application's name, under which its events, unless state says where, and its plugins' values are stored.",
                ],
                "plugins": [
                    "type": "array",
                    "items": ["type": "string", "minLength": 1],
                    "description": "Directories to search for plugins, relative to this file.",
                ],
                "state": [
                    "type": "string", "minLength": 1,
                    "description":
                        "The directory of the outbox and of the API's socket, relative to this file; by default, one in the user's state directory.",
                ],
                "outbox": Self.outboxServers,
                "trust": Self.trust,
                "reload": [
                    "enum": ["atomic", "each"], "default": "atomic",
                    "description":
                        "Whether a reload changes nothing if a required connector's successor fails, or changes what works.",
                ],
                "isolation": Self.isolation,
                "quiet": Self.quiet,
                "standby": Self.standby,
                "sandbox": Self.sandbox,
                "include": [
                    "type": "array", "maxItems": .integer(Int64(Configuration.fileLimit)),
                    "items": ["type": "string", "minLength": 1],
                    "description": "Files with further connectors, relative to this file; each is read once.",
                ],
                "connectors": [
                    "type": "array", "items": Self.reference("connector"), "description": "The connectors, in order.",
                ],
            ],
            "patternProperties": Self.annotations,
            "required": ["version"],
            "anyOf": [["required": ["connectors"]], ["required": ["include"]]],
            "additionalProperties": false,
            "$defs": .object(definitions),
        ]
    }

    private var definitions: JSONObject {
        var definitions = Self.commonDefinitions
        definitions["answers"] = answers
        definitions["connector"] = connector
        for (id, versions) in plugins {
            for (index, manifest) in versions.enumerated() {
                definitions[Self.name(id, index == 0 ? nil : manifest.version)] = Self.configuration(of: manifest)
            }
        }
        return definitions
    }

    // MARK: Connectors

    /// All keys are at one level, where editors offer them; conditions then forbid the keys of the other kind.
    private var connector: JSONValue {
        var properties = Self.connectorProperties
        properties["plugin"] = plugin
        let leaf = [
            "plugin", "version", "config", "with", "timeout", "trial", "retry", "heal", "probe", "allow", "http",
            "simulate", "record",
        ]
        let composite = ["policy", "quorum", "canary", "connectors"]
        let kind: JSONValue = [
            "if": ["required": ["plugin"]],
            "then": ["properties": Self.forbidden(composite + ["same"])],
            "else": [
                "if": ["required": ["same"]],
                "then": [
                    "properties": Self.forbidden(
                        leaf + composite + [
                            "after", "delivery", "outbox", "breaker", "isolation", "quiet", "runner", "standby",
                            "sandbox",
                        ]
                    )
                ],
                "else": ["properties": Self.forbidden(leaf), "required": ["connectors"]],
            ],
        ]
        return [
            "type": "object",
            "properties": .object(properties),
            "patternProperties": Self.annotations,
            "required": ["name"],
            "additionalProperties": false,
            "allOf": .array([kind] + plugins.flatMap(conditions)),
        ]
    }

    private var plugin: JSONValue {
        let ids = plugins.map { id, versions -> JSONValue in
            var choice: JSONObject = ["const": .string(id)]
            if let text = versions.first?.documentation, !text.isEmpty { choice["description"] = .string(text) }
            return .object(choice)
        }
        let path: JSONValue = [
            "type": "string", "pattern": "/", "description": "The path of a plugin, relative to this file.",
        ]
        let others = [path, Self.reference("variable")]
        return ["description": "The id or the path of a plugin.", "anyOf": .array(ids + others)]
    }

    /// The conditions that validate a plugin's `config`. Connectors that are disabled, or may be by a variable, are exempt.
    private func conditions(_ id: String, _ versions: [Manifest]) -> [JSONValue] {
        versions.enumerated().map { index, manifest in
            var wanted: JSONObject = ["plugin": ["const": .string(id)], "enabled": ["const": true]]
            var required: [JSONValue] = ["plugin"]
            if index > 0 {
                wanted["version"] = ["const": .string(manifest.version.description)]
                required.append("version")
            } else if versions.count > 1 {
                let others = versions.dropFirst().map { JSONValue.string($0.version.description) }
                wanted["version"] = ["not": ["enum": .array(others)]]
            }
            let name = Self.name(id, index == 0 ? nil : manifest.version)
            var properties: JSONObject = ["config": Self.reference(name)]
            if !manifest.uses.isEmpty { properties["with"] = Self.bindings(of: manifest) }
            var then: JSONObject = ["properties": .object(properties)]
            if manifest.configuration.contains(where: \.isRequired) { then["required"] = ["config"] }
            return [
                "if": ["properties": .object(wanted), "required": .array(required)],
                "then": .object(then),
            ]
        }
    }

    /// A connector's name or path, or null where a use stays unbound.
    static let nameOrNull: JSONValue = [["type": "string"], ["const": .null]]

    /// The names by which a plugin's uses are bound.
    private static func bindings(of manifest: Manifest) -> JSONValue {
        let names = manifest.uses.map { use in
            let description = "A connector that offers \(use.capability)\(use.isOptional ? "; null for none" : "")."
            var schema: JSONObject = use.isOptional ? ["anyOf": nameOrNull] : ["type": "string"]
            schema["description"] = .string(description)
            return (use.name, JSONValue.object(schema))
        }
        return [
            "type": "object", "properties": .object(JSONObject(names)), "patternProperties": annotations,
            "additionalProperties": false,
        ]
    }

    // MARK: Fields

    private static func configuration(of manifest: Manifest) -> JSONValue {
        var schema: JSONObject = [
            "type": "object",
            "properties": .object(JSONObject(manifest.configuration.map { ($0.name, property(of: $0)) })),
            "patternProperties": annotations,
            "additionalProperties": false,
        ]
        let required = manifest.configuration.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        if !manifest.documentation.isEmpty { schema["description"] = .string(manifest.documentation) }
        return .object(schema)
    }

    private static func property(of field: ConfigurationField) -> JSONValue {
        var schema = JSONObject()
        if !field.documentation.isEmpty { schema["description"] = .string(field.documentation) }
        if let value = field.defaultValue, !field.isSecret { schema["default"] = value }
        guard field.type != .json || !field.allowedValues.isEmpty else { return .object(schema) }
        var value = field.type.schema
        if !field.allowedValues.isEmpty { value["enum"] = .array(field.allowedValues) }
        if let minimum = field.minimum { value["minimum"] = Self.number(minimum) }
        if let maximum = field.maximum { value["maximum"] = Self.number(maximum) }
        if field.isRequired, !field.mayBeEmpty, field.type == .string { value["minLength"] = 1 }
        let takesAnyText = [.string, .path].contains(field.type) && field.allowedValues.isEmpty
        let variable = takesAnyText ? [] : [reference("variable")]
        schema["anyOf"] = .array([.object(value)] + variable + (field.isSecret ? [reference("secret")] : []))
        return .object(schema)
    }

    /// A number, as an integer where possible.
    private static func number(_ value: Double) -> JSONValue {
        JSONValue.number(value).integer.map { .integer($0) } ?? .number(value)
    }

    // MARK: Names

    private static func name(_ id: String, _ version: SemanticVersion?) -> String {
        "plugin:\(id)" + (version.map { "@\($0)" } ?? "")
    }

    /// A `$ref` to a definition.
    static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }

    private static func forbidden(_ names: [String]) -> JSONValue {
        .object(JSONObject(names.map { ($0, false) }))
    }

    /// Allows keys such as `$schema` and `$comment` in any object.
    static let annotations: JSONValue = ["^\\$": true]
}
