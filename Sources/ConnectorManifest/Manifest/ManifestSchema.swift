// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The JSON Schema (draft 2020-12) of a plugin's manifest, for editors and for the reference.
///
/// It accepts what the host accepts, and refuses what the host refuses, as far as a schema can express it. Only the host checks
/// signatures, the order of bounds, defaults against values and bounds, which operations may have the keys of a foreign library, which
/// operations share a function, the operations that scenes and life cycles name, the fields that `egress` names, and exported symbols. A
/// limit in bytes is one in characters here, and one on the number of names holds where none is an annotation.
package enum ManifestSchema {
    /// The schema as JSON.
    package static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Manifest",
            "description": "A plugin's description of itself, which the host reads without running its code.",
            "type": "object",
            "properties": .object(properties),
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["manifest", "id", "version", "abi"],
            "anyOf": [["required": ["entry"]], ["required": ["library"]]],
            "if": ["required": ["entry"]],
            "then": ["properties": ["lifecycle": false]],
            "else": ["properties": ["uses": false]],
            "$defs": [
                "identifier": identifier,
                "field": field,
                "operation": operation(isStandard: false),
                "standardOperation": operation(isStandard: true),
                "use": use,
                "scene": scene,
                "component": component,
                "column": column,
            ],
        ]
    }

    private static let properties: JSONObject = [
        "manifest": ["const": .integer(Manifest.formatVersion), "description": "The version of the format."],
        "id": described(reference("identifier"), "The name by which connectors.json names the plugin."),
        "version": [
            "type": "string", "pattern": .string(versionPattern),
            "description": "The plugin's version; the host loads the highest version of a plugin.",
        ],
        "abi": [
            "type": "array",
            "items": ["type": "integer", "minimum": 1, "maximum": .integer(Int64(UInt32.max))],
            "minItems": 2, "maxItems": 2,
            "description": "The lowest and the highest version of the ABI that the plugin works with: [1, 1].",
        ],
        "entry": described(symbol, "The exported function that returns the plugin's table of functions."),
        "documentation": ["type": "string", "description": "A sentence about the plugin."],
        "language": ["type": "string", "description": "The language of the source: c, c++, rust, swift."],
        "thread": [
            "enum": .array(Manifest.ThreadClass.allCases.map { .string($0.rawValue) }), "default": "any",
            "description": "Whether operations may run concurrently, or one of an instance at a time.",
        ],
        "capabilities": capabilities,
        "configuration": [
            "type": "object",
            "patternProperties": ["^\\$": true, "^[A-Za-z0-9_.-]{1,64}$": reference("field")],
            "additionalProperties": false,
            "description": "The fields that the plugin takes from a connector's config, by name.",
        ],
        "services": [
            "type": "object",
            "properties": [
                "required": [
                    "type": "array", "items": ["enum": .array(Manifest.hostServices.map { .string($0) })],
                    "description": "The services without which the plugin does not work.",
                ],
                "optional": [
                    "type": "array", "items": ["type": "string"],
                    "description": "The services that the plugin uses if the host has them.",
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "description": "The services of the host that the plugin uses.",
        ],
        "uses": [
            "type": "object", "additionalProperties": reference("use"),
            "patternProperties": annotations,
            "propertyNames": names(identifierPattern),
            "description": "The gates that the plugin calls, by a name of its own.",
        ],
        "scenes": [
            "type": "object", "additionalProperties": reference("scene"),
            "patternProperties": annotations,
            "propertyNames": names(identifierPattern),
            "if": withoutAnnotations, "then": ["maxProperties": .integer(Int64(ManifestScene.limit))],
            "description": "Tabs of the console that show what the plugin's operations and events say.",
        ],
        "egress": [
            "type": "array",
            "items": ["type": "string", "pattern": .string(egressPattern), "maxLength": 300],
            "description":
                "The network hosts that the plugin reaches: names, *.example.com, or {field} for the host in a field of the configuration.",
        ],
        "batch": [
            "type": "object",
            "properties": [
                "count": [
                    "type": "integer", "minimum": 1, "maximum": 1_000_000,
                    "description": "The most events that one deliver takes.",
                ],
                "bytes": [
                    "type": "integer", "minimum": 1, "maximum": .integer(1 << 30),
                    "description": "The most bytes of events that one deliver takes.",
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "description": "The bounds of one delivery of events.",
        ],
        "library": [
            "type": "string", "pattern": "\\S",
            "description": "Without entry: the existing library that this manifest describes, as a path or a name.",
        ],
        "lifecycle": [
            "type": "object",
            "properties": [
                "open": ["type": "string", "description": "The operation that opens a gate."],
                "close": ["type": "string", "description": "The operation that closes it."],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "description": "With library: the operations that open and close a gate.",
        ],
        "swiftType": [
            "type": "string",
            "description": "The Swift type that implements the plugin, from which ConnectorKit's entry is generated.",
        ],
        "exclusive": [
            "type": "boolean", "default": false,
            "description":
                "Whether two instances with one configuration cannot be open at once, so that a reload closes the first before it opens the second.",
        ],
    ]

    // MARK: Capabilities

    private static var capabilities: JSONValue {
        let standard = CapabilityDefinition.all.map { definition -> (String, JSONValue) in
            let names = definition.operations.map { JSONValue.string($0.name) }
            let list: JSONValue = ["type": "array", "items": ["enum": .array(names)], "uniqueItems": true]
            var operations = JSONObject(
                definition.operations.map { operation in
                    (operation.name, described(reference("standardOperation"), operation.documentation))
                }
            )
            operations["except"] = described(list, "The operations that the plugin does not offer.")
            return (
                definition.id,
                [
                    "description": .string("\(definition.documentation) Empty for every operation."),
                    "anyOf": [
                        list,
                        [
                            "type": "object", "properties": .object(operations), "patternProperties": annotations,
                            "additionalProperties": false,
                        ],
                    ],
                ]
            )
        }
        return [
            "type": "object",
            "properties": .object(JSONObject(standard)),
            "additionalProperties": [
                "type": "object", "minProperties": 1, "additionalProperties": reference("operation"),
                "patternProperties": annotations,
                "propertyNames": names(operationPattern),
            ],
            "patternProperties": annotations,
            "propertyNames": names(capabilityPattern),
            "description": "What the plugin can do, by capability: a standard one, or one of its own such as rates/1.",
        ]
    }

    /// - Parameter isStandard: Whether the capability defines the operation, so that the manifest only states what differs.
    private static func operation(isStandard: Bool) -> JSONValue {
        var schema: JSONObject = [
            "type": "object",
            "properties": [
                "symbol": described(
                    symbol,
                    isStandard
                        ? "The exported function; by default, the plugin's id and the operation's name: segment_track."
                        : "The exported function."
                ),
                "signature": [
                    "type": "string", "minLength": 2,
                    "description":
                        "The parameters and results, such as (a: i64, b: i64) -> i64; with async, a completion follows.",
                ],
                "documentation": ["type": "string", "description": "A sentence about the operation."],
                "delivered": [
                    "type": "boolean", "default": false,
                    "description": "Whether a call is an event, which the outbox stores and delivers.",
                ],
                "prompt": [
                    "type": "boolean", "default": false,
                    "description":
                        "Whether it returns in microseconds without waiting, so that it runs on the caller's thread.",
                ],
                "safe": [
                    "type": "boolean", "default": false,
                    "description": "Whether it only reads, so that it may be called more than once.",
                ],
                "status": [
                    "enum": .array(ForeignConvention.Status.allCases.map { .string($0.rawValue) }), "default": "none",
                    "description": "With library: how the function reports success.",
                ],
                "statusType": [
                    "enum": .array(
                        (ValueType.signedIntegers + ValueType.unsignedIntegers).map { .string($0.rawValue) }
                    ),
                    "default": "i32",
                    "description":
                        "With library: the type of the status that the function returns, if its signature has no result.",
                ],
                "codes": [
                    "type": "object",
                    "additionalProperties": [
                        "enum": .array(ConnectorError.Code.returnable.map { .string($0.rawValue) })
                    ],
                    "patternProperties": annotations,
                    "propertyNames": names(integerPattern),
                    "description": "With library: the error codes by the function's statuses.",
                ],
                "releases": [
                    "type": "array", "items": ["type": "string"],
                    "description": "With library: the handles that the function ends.",
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "if": ["required": ["statusType"]],
            "then": ["anyOf": [["required": ["status"]], ["required": ["codes"]]]],
        ]
        if !isStandard { schema["required"] = ["symbol", "signature"] }
        return .object(schema)
    }

    // MARK: Configuration

    private static let field: JSONValue = [
        "type": "object",
        "properties": [
            "type": [
                "enum": .array(ConfigurationField.FieldType.allCases.map { .string($0.rawValue) }), "default": "string",
                "description": "The type of the value; a path is resolved from the directory of connectors.json.",
            ],
            "required": [
                "type": "boolean", "default": false, "description": "Whether a connector must have a value.",
            ],
            "default": ["description": "The value if there is none; a required field has no default."],
            "secret": [
                "type": "boolean", "default": false,
                "description":
                    "Whether the plugin receives a placeholder, which the host replaces in the plugin's requests.",
            ],
            "documentation": ["type": "string", "description": "A sentence about the field."],
            "values": ["type": "array", "minItems": 1, "description": "The only values allowed."],
            "minimum": ["type": "number", "description": "The lowest number allowed, for integers and numbers."],
            "maximum": ["type": "number", "description": "The highest number allowed, for integers and numbers."],
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "allOf": .array(fieldRules),
    ]

    /// What the keys of a field demand of each other.
    private static var fieldRules: [JSONValue] {
        let types = ConfigurationField.FieldType.allCases.filter { $0 != .json }
        let values: [JSONValue] = types.map { type in
            let form = JSONValue.object(type.schema)
            return [
                "if": has("type", ["const": .string(type.rawValue)], isDefault: type == .string),
                "then": ["properties": ["default": form, "values": ["items": form]]],
            ]
        }
        let required: JSONValue = [
            "if": has("required", ["const": true]), "then": ["properties": ["default": false]],
        ]
        let secret: JSONValue = [
            "if": has("secret", ["const": true]), "then": ["properties": ["type": ["const": "string"]]],
        ]
        let bounds: JSONValue = [
            "if": ["anyOf": [["required": ["minimum"]], ["required": ["maximum"]]]],
            "then": has("type", ["enum": ["integer", "number", "json"]]),
        ]
        return values + [required, secret, bounds]
    }

    private static let use: JSONValue = [
        "anyOf": [
            ["type": "string", "pattern": .string("^\(capabilityPattern)$")],
            [
                "type": "object",
                "properties": [
                    "capability": [
                        "type": "string", "pattern": .string("^\(capabilityPattern)$"),
                        "description": "The capability that the plugin calls.",
                    ],
                    "optional": [
                        "type": "boolean", "default": false,
                        "description": "Whether the plugin also works without the gate.",
                    ],
                ],
                "required": ["capability"],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "description": "The capability of the gate: settings/1.",
    ]

    // MARK: Scenes

    private static let scene: JSONValue = [
        "type": "object",
        "properties": [
            "title": title("The title of the tab; by default, the scene's name."),
            "components": [
                "type": "object", "additionalProperties": reference("component"), "minProperties": 1,
                "patternProperties": annotations,
                "propertyNames": names(identifierPattern),
                "if": withoutAnnotations, "then": ["maxProperties": .integer(Int64(ManifestScene.partLimit))],
                "description": "The parts of the scene, from the top.",
            ],
        ],
        "required": ["components"],
        "patternProperties": annotations,
        "additionalProperties": false,
    ]

    private static let component: JSONValue = [
        "type": "object",
        "properties": [
            "title": title("The title above it."),
            "as": [
                "enum": .array(ManifestScene.Shape.allCases.map { .string($0.rawValue) }), "default": "table",
                "description": "How it is drawn.",
            ],
            "operation": ["type": "string", "description": "The operation whose answer it shows."],
            "arguments": ["type": "object", "description": "The arguments of the operation."],
            "every": [
                "type": "string", "pattern": .string(intervalPattern), "default": "5s",
                "description": "The time from an answer to the next call, from 1s to 1h.",
            ],
            "events": [
                "type": "array", "items": ["type": "string", "minLength": 1], "minItems": 1,
                "description": "The events whose payloads it shows, in place of an operation.",
            ],
            "rows": [
                "type": "string", "pattern": .string(membersPattern),
                "description": "The members that lead to the rows: places, or answer.places.",
            ],
            "columns": [
                "type": "array", "items": reference("column"), "maxItems": .integer(Int64(ManifestScene.partLimit)),
                "description":
                    "What is shown of each row; without them, its JSON. details needs a column, chart one that is a number.",
            ],
        ],
        "oneOf": [["required": ["operation"]], ["required": ["events"]]],
        "dependentRequired": ["arguments": ["operation"], "every": ["operation"]],
        "patternProperties": annotations,
        "additionalProperties": false,
        "allOf": [
            [
                "if": has("as", ["const": "chart"]),
                "then": has("columns", ["contains": has("number", ["const": true])]),
            ],
            ["if": has("as", ["const": "details"]), "then": has("columns", ["minItems": 1])],
        ],
    ]

    private static let column: JSONValue = [
        "type": "object",
        "properties": [
            "title": title("The heading; by default, the members' names."),
            "value": [
                "type": "string", "pattern": .string(membersPattern),
                "description": "The members that lead from the row to the value.",
            ],
            "number": [
                "type": "boolean", "default": false,
                "description":
                    "Whether the value is a number, which is aligned to the right and can be drawn in a chart.",
            ],
        ],
        "required": ["value"],
        "patternProperties": annotations,
        "additionalProperties": false,
    ]

    // MARK: Parts

    private static let identifier: JSONValue = ["type": "string", "pattern": .string("^\(identifierPattern)$")]
    private static let symbol: JSONValue = ["type": "string", "pattern": "^[!-~]+$"]

    private static func title(_ text: String) -> JSONValue {
        [
            "type": "string", "minLength": 1, "pattern": "^[^\\u0000-\\u001F\\u007F-\\u009F]*$",
            // A schema counts code points, and the host characters, of which only those of ASCII are one code point each.
            "if": ["pattern": "^[ -~]*$"], "then": ["maxLength": .integer(Int64(ManifestScene.titleLimit))],
            "description": .string(text),
        ]
    }

    /// The names of a map: those that a pattern describes, and annotations.
    private static func names(_ pattern: String) -> JSONValue { ["pattern": .string("^(\\$|\(pattern)$)")] }

    /// An object that has a member of a form.
    ///
    /// - Parameter isDefault: Whether an object without the member counts, too.
    private static func has(_ name: String, _ form: JSONValue, isDefault: Bool = false) -> JSONValue {
        var schema: JSONObject = ["properties": .object([name: form])]
        if !isDefault { schema["required"] = [.string(name)] }
        return .object(schema)
    }

    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }

    private static func described(_ schema: JSONValue, _ text: String) -> JSONValue {
        guard var object = schema.object else { return schema }
        object["description"] = .string(text)
        return .object(object)
    }

    /// Allows keys such as `$schema` and `$comment` in any object.
    private static let annotations: JSONValue = ["^\\$": true]

    /// An object without such keys, all of whose members count.
    private static let withoutAnnotations: JSONValue = ["propertyNames": ["pattern": "^[^$]"]]
}
