// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// The parts of the schema that say whom the host trusts, and where secrets are.
extension ConfigurationSchema {
    /// `trust`: a level alone, or with the keys that sign plugins.
    static let trust: JSONValue = [
        "anyOf": [
            level,
            [
                "type": "object",
                "properties": [
                    "level": described(level, "Whether such a plugin causes a warning or is refused."),
                    "keys": [
                        "type": "array",
                        "items": ["type": "string", "pattern": "^RW[A-Za-z0-9+/]{54}$"],
                        "description": "Public keys of minisign, one of which must have signed each plugin.",
                    ],
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "description":
            "Whether a plugin that other users can modify, or that no key has signed, causes a warning or is refused.",
    ]

    private static let level: JSONValue = ["enum": ["warn", "strict"], "default": "warn"]

    /// `{"secret": …}`: one source, or several that are tried in order.
    static let secret: JSONValue = [
        "type": "object",
        "properties": [
            "secret": [
                "anyOf": [
                    source,
                    [
                        "type": "array", "minItems": 1, "maxItems": .integer(Int64(ConfigurationResolver.sourceLimit)),
                        "items": [
                            "anyOf": [
                                source,
                                [
                                    "type": "object",
                                    "properties": ["secret": source, "json": pointer],
                                    "required": ["secret"],
                                    "additionalProperties": false,
                                ],
                            ]
                        ],
                        "description":
                            "Sources in order: the next one is used if one is missing, or the vendor refuses it.",
                    ],
                ]
            ],
            "json": pointer,
        ],
        "required": ["secret"],
        "additionalProperties": false,
        "description": "A value that never appears in logs, reports or errors.",
    ]

    private static let pointer: JSONValue = [
        "type": "string", "pattern": "^(/.*)?$",
        "description": "The member of the JSON text that is the secret, as a JSON Pointer: /password.",
    ]

    private static let timeoutPattern = "^\(NumberPattern.durations(upTo: SecretReference.longestTimeout))$"

    private static let source: JSONValue = [
        "anyOf": [
            [
                "type": "string", "pattern": "^(env:[A-Za-z_$]|file:.|credential:.|exec:.)",
                "description":
                    "env:NAME, file:PATH relative to this file, credential:NAME of systemd, or exec:PROGRAM; only its owner may have access to a file.",
            ],
            [
                "type": "object",
                "properties": [
                    "exec": [
                        "type": "array", "minItems": 1, "items": ["type": "string"],
                        "description":
                            "A program that prints the secret, and its arguments; it runs in this file's directory, without a shell.",
                    ],
                    "timeout": [
                        "$ref": "#/$defs/duration",
                        "pattern": .string(timeoutPattern),
                        "description": "How long the program may take, at most 60s; by default, 5s.",
                    ],
                ],
                "required": ["exec"],
                "additionalProperties": false,
            ],
        ]
    ]
}
