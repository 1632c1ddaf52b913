// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest

/// What the schema says whatever the plugins are.
extension ConfigurationSchema {
    /// The members of a connector but for `plugin`.
    static let connectorProperties: JSONObject = [
        "name": [
            "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$",
            "description": "Unique among its siblings; paths are made of it.",
        ],
        "plugin": true,
        "version": [
            "type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$",
            "description": "The only version of the plugin that will do; the highest without it.",
        ],
        "config": ["type": "object", "description": "What the plugin wants to know."],
        "policy": [
            "enum": .array(CompositePolicy.names.map { .string($0) }), "default": "all",
            "description": "How a call passes through the connectors below.",
        ],
        "quorum": [
            "type": "integer", "minimum": 1,
            "description": "With the policy \"all\": how many must succeed; every required one without it.",
        ],
        "connectors": [
            "type": "array", "minItems": 1, "items": reference("connector"),
            "description": "The connectors below this one.",
        ],
        "required": [
            "type": "boolean",
            "description":
                "Whether what is above it fails without it; the default is false below \"first\", \"fastest\" and a quorum.",
        ],
        "enabled": [
            "anyOf": [["type": "boolean"], reference("variable")], "default": true,
            "description": "Whether it takes part at all.",
        ],
        "after": [
            "type": "array", "items": ["type": "string"],
            "description": "Siblings, or connectors by path, that have opened, or failed to, before this one starts.",
        ],
        "timeout": described(reference("duration"), "How long opening may take."),
        "retry": retry,
        "heal": heal,
        "probe": [
            "anyOf": [["const": "off"], reference("duration")], "default": "60s",
            "description": "How often an open gate proves that it still works.",
        ],
        "allow": allow,
    ]

    private static let retry: JSONValue = [
        "type": "object",
        "properties": [
            "attempts": [
                "type": "integer", "minimum": 1, "maximum": 1000, "default": 3,
                "description": "Attempts in all, the first one included.",
            ],
            "initial": described(reference("duration"), "The longest wait before the second attempt; it doubles."),
            "max": described(reference("duration"), "No wait is longer."),
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "Whether and how opening is tried again.",
    ]

    private static let heal: JSONValue = [
        "anyOf": [
            ["const": "off"],
            [
                "type": "object",
                "properties": [
                    "initial": described(
                        reference("duration"),
                        "The longest wait before the first attempt to heal; it doubles; 1s without it."
                    ),
                    "max": described(reference("duration"), "No wait is longer; 60s without it."),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "description": "How an attempt to open is repeated after it failed, until the host closes.",
    ]

    private static let allow: JSONValue = [
        "type": "object",
        "properties": [
            "hosts": [
                "type": "array",
                "items": [
                    "type": "string",
                    "pattern": "^(\\*\\.)?(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z_][0-9A-Za-z._-]*)(:[0-9]+)?$",
                ],
                "description":
                    "The only hosts that the plugin may talk to: names, \"*.example.com\", with or without a port.",
            ]
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "What the plugin may do.",
    ]

    /// Definitions that others refer to.
    static let commonDefinitions: JSONObject = [
        "duration": ["type": "string", "pattern": "^0*[1-9][0-9]*(ms|s|m|h)$"],
        "variable": [
            "type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}",
            "description": "A value from the environment: ${NAME} or ${NAME:-default}.",
        ],
        "secret": [
            "type": "object",
            "properties": [
                "secret": [
                    "type": "string", "pattern": "^(env:[A-Za-z_$]|file:.)",
                    "description": "env:NAME, or file:PATH relative to this file; the file must be its owner's alone.",
                ]
            ],
            "required": ["secret"],
            "additionalProperties": false,
            "description": "A value that is kept out of everything that people see.",
        ],
    ]

    private static func described(_ schema: JSONValue, _ text: String) -> JSONValue {
        guard case .object(var object) = schema else { return schema }
        object["description"] = .string(text)
        return .object(object)
    }
}
