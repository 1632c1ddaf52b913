// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// The parts of the schema that do not depend on plugins.
extension ConfigurationSchema {
    /// The keys of a connector; `plugin` is added with the known plugins.
    static let connectorProperties: JSONObject = [
        "name": [
            "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$",
            "description": "Unique among its siblings; paths consist of names.",
        ],
        "plugin": true,
        "same": [
            "type": "string", "minLength": 1,
            "description": "The path of a leaf that also stands here: one gate in several places.",
        ],
        "version": [
            "type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$",
            "description": "The only version of the plugin to accept; the highest by default.",
        ],
        "config": ["type": "object", "description": "The plugin's own fields."],
        "policy": [
            "enum": .array(CompositePolicy.names.map { .string($0) }), "default": "all",
            "description": "How a call passes through the connectors below.",
        ],
        "quorum": [
            "type": "integer", "minimum": 1,
            "description": "With the policy \"all\": how many connectors must succeed; every required one by default.",
        ],
        "connectors": [
            "type": "array", "minItems": 1, "items": reference("connector"),
            "description": "The connectors below this one.",
        ],
        "required": [
            "type": "boolean",
            "description":
                "Whether the connector above fails without it; false by default below \"first\", \"fastest\" and a quorum.",
        ],
        "enabled": [
            "anyOf": [["type": "boolean"], reference("variable")], "default": true,
            "description": "Whether the connector takes part at all.",
        ],
        "after": [
            "type": "array", "items": ["type": "string"],
            "description": "Siblings, or connectors by path, that finish opening, or fail to, before this one starts.",
        ],
        "timeout": described(reference("duration"), "How long opening may take."),
        "retry": retry,
        "heal": heal,
        "probe": [
            "anyOf": [["const": "off"], reference("duration")], "default": "60s",
            "description": "How often an open gate is proved.",
        ],
        "allow": allow,
        "delivery": [
            "enum": ["queued", "direct"], "default": "queued",
            "description": "Whether the outbox delivers events, or calls reach the vendor directly.",
        ],
        "outbox": outbox,
        "http": http,
        "simulate": [
            "type": "string", "minLength": 1,
            "description":
                "With --simulate: the URL of a server on this machine, a file of answers, or \"local\" for a plugin that makes no requests.",
        ],
    ]

    private static let outbox: JSONValue = [
        "type": "object",
        "properties": [
            "batch": [
                "type": "object",
                "properties": [
                    "count": [
                        "type": "integer", "minimum": 1, "maximum": 100_000,
                        "description": "The most events in one request; the adapter's own limit by default.",
                    ],
                    "bytes": [
                        "type": "integer", "minimum": 1, "maximum": 1_073_741_824,
                        "description": "The most bytes in one request; the adapter's own limit by default.",
                    ],
                    "age": described(
                        reference("duration"),
                        "How long a request that has room waits for more events; not at all by default."
                    ),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
            "maxAge": described(
                reference("duration"),
                "The age at which a waiting event becomes a dead letter; never by default."
            ),
            "maxBytes": [
                "type": "integer", "minimum": 1,
                "description": "The most bytes that may wait; as many as the disk holds by default.",
            ],
            "whenFull": [
                "enum": ["block", "dropOldest", "dropNewest"], "default": "block",
                "description": "What happens to an event that finds the outbox full.",
            ],
            "pace": [
                "type": "string", "pattern": "^[1-9][0-9]*/[smh]$",
                "description": "The most events in a time, such as \"100/s\" or \"30/m\".",
            ],
            "retry": [
                "type": "object",
                "properties": [
                    "initial": described(
                        reference("duration"),
                        "The longest wait after the first failure; it doubles."
                    ),
                    "max": described(
                        reference("duration"),
                        "The longest wait of all, unless the vendor asks for more."
                    ),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "How the outbox delivers the connector's events.",
    ]

    private static let retry: JSONValue = [
        "type": "object",
        "properties": [
            "attempts": [
                "type": "integer", "minimum": 1, "maximum": 1000, "default": 3,
                "description": "All attempts, including the first.",
            ],
            "initial": described(
                reference("duration"),
                "The longest wait before the second attempt; it doubles each time."
            ),
            "max": described(reference("duration"), "The longest wait of all."),
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "How many attempts opening has before the gate fails.",
    ]

    private static let heal: JSONValue = [
        "anyOf": [
            ["const": "off"],
            [
                "type": "object",
                "properties": [
                    "initial": described(
                        reference("duration"),
                        "The least bound of a random wait, which otherwise is half of the outage; 1s by default."
                    ),
                    "max": described(reference("duration"), "The greatest bound of a wait; 60s by default."),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "description": "How a failed gate is tried again, until it is closed.",
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
                    "The only hosts that the plugin may reach: names, \"*.example.com\", with or without a port.",
            ]
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "What the plugin is allowed to do.",
    ]

    private static let http: JSONValue = [
        "type": "object",
        "properties": [
            "propagateTrace": [
                "type": "boolean", "default": false,
                "description": "Whether requests carry the trace that they belong to, for a server of your own.",
            ]
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "The plugin's requests.",
    ]

    /// Where the outbox keeps its events.
    static let outboxServers: JSONValue = [
        "type": "object",
        "properties": [
            "engine": ["enum": ["sqlite", "nats"], "description": "A file of this machine, or NATS JetStream."],
            "url": [
                "type": "string", "minLength": 1,
                "description": "The NATS servers, separated by commas, without credentials: nats://a:4222,nats://b.",
            ],
            "stream": [
                "type": "string", "minLength": 1, "default": "OUTBOX", "description": "The name of the stream.",
            ],
            "replicas": ["enum": [1, 3, 5], "default": 1, "description": "How many servers keep each event."],
            "credentials": ["type": "string", "minLength": 1, "description": "A file with the user's credentials."],
            "token": reference("secret"),
            "user": ["type": "string", "minLength": 1, "description": "The user's name, with a password."],
            "password": reference("secret"),
            "tls": [
                "type": "object",
                "properties": [
                    "ca": [
                        "type": "string", "minLength": 1, "description": "A file with the authorities' certificates.",
                    ]
                ],
                "additionalProperties": false,
                "description": "Encrypts the connection.",
            ],
        ],
        "required": ["engine"],
        "additionalProperties": false,
        "description": "Where the outbox keeps its events; by default in a file below state.",
    ]

    /// Definitions that other parts refer to.
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
                    "description": "env:NAME, or file:PATH relative to this file; only its owner may have access.",
                ]
            ],
            "required": ["secret"],
            "additionalProperties": false,
            "description": "A value that never appears in logs, reports or errors.",
        ],
    ]

    private static func described(_ schema: JSONValue, _ text: String) -> JSONValue {
        guard case .object(var object) = schema else { return schema }
        object["description"] = .string(text)
        return .object(object)
    }
}
