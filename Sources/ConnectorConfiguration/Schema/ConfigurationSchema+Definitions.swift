// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
internal import ConnectorPlatform

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
            "type": "string", "pattern": .string(ManifestSchema.versionPattern),
            "description": "The required version of the plugin; by default, the highest.",
        ],
        "config": ["type": "object", "description": "The plugin's own fields."],
        "policy": [
            "enum": .array(CompositePolicy.names.map { .string($0) }), "default": "all",
            "description": "How calls are routed to the child connectors.",
        ],
        "quorum": [
            "type": "integer", "minimum": 1,
            "description":
                "With the policy \"all\": the minimum number of connectors that must succeed; by default, every required one.",
        ],
        "canary": [
            "type": "object", "patternProperties": annotations, "additionalProperties": false,
            "description":
                "With the policy \"canary\": how calls are divided between the two connectors, and when that ends.",
            "properties": [
                "share": [
                    "type": "number", "minimum": 0, "maximum": 100, "default": 5,
                    "description": "The share of calls that the second connector receives, in percent.",
                ],
                "key": [
                    "type": "string", "pattern": "^(/.*)?$",
                    "description":
                        "Where the arguments have the key by which calls are divided, as a JSON pointer; by default, single calls are divided.",
                ],
                "failures": [
                    "type": "number", "minimum": 0, "maximum": 100, "default": 5,
                    "description": "How many percentage points more of the second connector's calls may fail.",
                ],
                "slower": [
                    "type": "number", "minimum": 1, "maximum": 1_000_000, "default": 2,
                    "description": "How many times longer the second connector may take on average.",
                ],
                "calls": [
                    "type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 50,
                    "description": "How many calls the second connector receives before it is judged.",
                ],
            ],
        ],
        "connectors": [
            "type": "array", "minItems": 1, "items": reference("connector"),
            "description": "The child connectors.",
        ],
        "required": [
            "type": "boolean",
            "description":
                "Whether the parent fails without this connector; by default, false below \"first\", \"fastest\" and a quorum, and for all but the first below \"canary\" and \"shadow\".",
        ],
        "was": [
            "type": "string", "minLength": 1,
            "description":
                "The path that the connector had before it was renamed or moved: a reload then keeps its waiting events.",
        ],
        "enabled": [
            "anyOf": [["type": "boolean"], reference("variable")], "default": true,
            "description": "Whether the connector is part of the tree at all.",
        ],
        "after": [
            "type": "array", "items": ["type": "string"],
            "description":
                "Siblings by name, or connectors by path, that must finish opening or fail before this one starts to open.",
        ],
        "with": [
            "type": "object", "patternProperties": annotations, "additionalProperties": ["anyOf": nameOrNull],
            "description":
                "The connectors that the plugin uses: siblings by name, or connectors by path, by the names in its manifest's uses; null leaves an optional use unbound.",
        ],
        "timeout": described(
            reference("duration"),
            "The timeout of one attempt to open, of a proof and of closing; by default, 10s."
        ),
        "trial": described(
            reference("duration"),
            "How long a reload keeps the earlier instance, to go back to it if its successor loses its evidence or fails more calls; by default, not at all."
        ),
        "retry": retry,
        "heal": heal,
        "breaker": breaker,
        "probe": [
            "anyOf": [["const": "off"], reference("duration")], "default": "60s",
            "description": "How often an open gate is probed.",
        ],
        "allow": allow,
        "delivery": [
            "enum": ["queued", "direct"], "default": "queued",
            "description": "Whether the outbox delivers events, or calls reach the vendor directly.",
        ],
        "outbox": outbox,
        "http": http,
        "isolation": isolation,
        "quiet": quiet,
        "runner": [
            "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$",
            "description":
                "The runner that isolated connectors of this name share; by default, those of a plugin share one.",
        ],
        "standby": standby,
        "sandbox": sandbox,
        "simulate": [
            "anyOf": [["type": "string", "minLength": 1], reference("answers")],
            "description":
                "With --simulate: the URL of a server on this machine, a file of answers or the answers themselves, or \"local\" for a plugin that makes no requests.",
        ],
        "record": [
            "type": "string", "minLength": 1,
            "description":
                "The file of answers to which the vendor's responses are recorded, for simulate; not with --simulate.",
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
                        "description":
                            "The maximum number of events in one request; by default, the adapter's own limit.",
                    ],
                    "bytes": [
                        "type": "integer", "minimum": 1, "maximum": 1_073_741_824,
                        "description":
                            "The maximum number of bytes in one request; by default, the adapter's own limit.",
                    ],
                    "age": described(
                        reference("duration"),
                        "How long a request that is not full waits for more events; by default, not at all."
                    ),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
                "description": "What one request holds.",
            ],
            "maxAge": described(
                reference("duration"),
                "The age at which a waiting event becomes a dead letter; by default, never."
            ),
            "maxBytes": [
                "type": "integer", "minimum": .integer(SettingRange.queueBytes.lowerBound),
                "maximum": .integer(SettingRange.queueBytes.upperBound),
                "description": "The maximum number of bytes that may wait; by default, as many as the disk holds.",
            ],
            "whenFull": [
                "enum": ["block", "dropOldest", "dropNewest"], "default": "block",
                "description": "What happens to an event when the outbox is full.",
            ],
            "pace": [
                "type": "string", "pattern": .string(pacePattern),
                "description": "The maximum rate of events, such as \"100/s\" or \"30/m\".",
            ],
            "retry": [
                "type": "object",
                "properties": [
                    "initial": described(
                        reference("duration"),
                        "The upper bound of the wait after the first failure, which doubles each time; by default, 1s."
                    ),
                    "max": described(
                        reference("duration"),
                        "The maximum of that bound, unless the vendor asks for more; by default, 60s."
                    ),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
                "description": "How long a delivery waits after a failure.",
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
                "description": "The number of attempts, including the first.",
            ],
            "initial": described(
                reference("duration"),
                "The upper bound of the wait before the second attempt, which doubles each time; by default, 200ms."
            ),
            "max": described(reference("duration"), "The maximum of that bound; by default, 5s."),
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "How often to try to open before the gate fails.",
    ]

    private static let heal: JSONValue = [
        "anyOf": [
            ["const": "off"],
            [
                "type": "object",
                "properties": [
                    "initial": described(
                        reference("duration"),
                        "The minimum upper bound of a random wait, which is otherwise half the outage; by default, 1s."
                    ),
                    "max": described(reference("duration"), "The maximum upper bound of a wait; by default, 60s."),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "description": "How a failed gate is retried until it is closed.",
    ]

    private static let breaker: JSONValue = [
        "anyOf": [
            ["const": "off"],
            [
                "type": "object",
                "properties": [
                    "failures": [
                        "type": "integer", "minimum": 1, "maximum": 1000, "default": 5,
                        "description": "How many calls in a row have to fail.",
                    ],
                    "window": described(reference("duration"), "How long a failure counts; by default, 60s."),
                    "probe": described(
                        reference("duration"),
                        "How long calls are refused before one is let through as a trial; by default, 10s."
                    ),
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "default": "off",
        "description": "When a gate, or those of the connectors below, whose calls fail get no more calls for a while.",
    ]

    private static let allow: JSONValue = [
        "type": "object",
        "properties": [
            "hosts": [
                "type": "array",
                "items": [
                    "type": "string",
                    "pattern": .string(hostPattern),
                ],
                "description":
                    "The only hosts that the plugin may reach: names, \"*.example.com\", with or without a port.",
            ]
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "What the plugin is allowed to do.",
    ]

    /// A number of events in a second, a minute or an hour.
    private static let pacePattern = "^0*\(NumberPattern.upTo(UInt64(UInt32.max)))/[smh]$"
    private static let durationPattern = "^\(NumberPattern.durations(upTo: .longest))$"
    /// A host, with `*.` before it and a port after it if need be.
    private static let hostPattern =
        "^(\\*\\.)?(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z_][0-9A-Za-z._-]*)(:0*\(NumberPattern.upTo(UInt64(UInt16.max))))?$"

    /// Where plugins run.
    static let isolation: JSONValue = [
        "enum": .array(Isolation.Kind.allCases.map { .string($0.rawValue) }), "default": "none",
        "description":
            "Whether the plugin, or those of the connectors below, run in the host, in a runner, which a crash does not leave, or in the host until it has died there.",
    ]

    /// How long a plugin in which the host died stays in a runner.
    static let quiet: JSONValue = described(
        reference("duration"),
        "With \"isolation\": \"auto\", how long a plugin stays in a runner after its last crash; by default, 168h."
    )

    /// Whether a second instance waits for the end of the first one's runner.
    static let standby: JSONValue = [
        "type": "boolean", "default": false,
        "description":
            "With \"isolation\": \"process\", whether a second instance waits in another runner, open, and takes over when a runner ends.",
    ]

    /// What a runner may do.
    static let sandbox: JSONValue = [
        "anyOf": [
            ["enum": .array(SandboxSettings.Level.allCases.map { .string($0.rawValue) })],
            [
                "type": "object",
                "properties": [
                    "level": [
                        "enum": .array(SandboxSettings.Level.allCases.map { .string($0.rawValue) }),
                        "default": "default",
                        "description":
                            "Whether the connector opens only if every layer holds, with what the system has, without a sandbox, or without one and printing what it would refuse.",
                    ],
                    "read": placesOf("that the plugin may read, with all below them"),
                    "write": placesOf(
                        "below which the plugin may read, make, change and remove files; they must exist"
                    ),
                    "network": [
                        "type": "boolean", "default": false,
                        "description":
                            "Whether the plugin may make sockets of its own; requests through the host need none.",
                    ],
                    "memory": [
                        "type": "integer", "minimum": .integer(SettingRange.memory.lowerBound),
                        "maximum": .integer(SettingRange.memory.upperBound),
                        "description": "The most private memory of the runner, in bytes.",
                    ],
                    "cpu": [
                        "type": "number", "minimum": .number(SettingRange.processors.lowerBound),
                        "maximum": .integer(Int64(SettingRange.processors.upperBound)),
                        "description":
                            "The most processor time of the runner, as a number of processors; it needs a control group.",
                    ],
                    "threads": [
                        "type": "integer", "minimum": .integer(SettingRange.threads.lowerBound),
                        "maximum": .integer(SettingRange.threads.upperBound),
                        "description": "The most threads of the runner.",
                    ],
                ],
                "patternProperties": annotations,
                "additionalProperties": false,
            ],
        ],
        "description": "What the plugin, or those of the connectors below, may do in a runner.",
    ]

    private static func placesOf(_ what: String) -> JSONValue {
        [
            "type": "array", "items": ["type": "string", "minLength": 1],
            "description": .string("Files and directories \(what); relative to the file's directory."),
        ]
    }

    private static let http: JSONValue = [
        "type": "object",
        "properties": [
            "propagateTrace": [
                "type": "boolean", "default": false,
                "description": "Whether requests carry their trace context, for a server of your own.",
            ],
            "cacheBytes": [
                "type": "integer", "default": 0, "minimum": 0, "maximum": .integer(Int64(Connector.cacheLimit)),
                "description": "The most bytes of responses that the host keeps in memory for the plugin to use again.",
            ],
        ],
        "patternProperties": annotations,
        "additionalProperties": false,
        "description": "The plugin's requests.",
    ]

    /// Where the outbox stores its events.
    static let outboxServers: JSONValue = [
        "type": "object",
        "properties": [
            "engine": ["enum": ["sqlite", "nats"], "description": "A file on this machine, or NATS JetStream."],
            "url": [
                "type": "string", "minLength": 1,
                "description": "The NATS servers, separated by commas, without credentials: nats://a:4222,nats://b.",
            ],
            "stream": [
                "type": "string", "minLength": 1, "default": "OUTBOX", "description": "The name of the stream.",
            ],
            "replicas": ["enum": [1, 3, 5], "default": 1, "description": "The number of replicas of each event."],
            "credentials": ["type": "string", "minLength": 1, "description": "A NATS credentials file."],
            "token": described(reference("secret"), "The token that the servers ask for, instead of a user's name."),
            "user": ["type": "string", "minLength": 1, "description": "The user's name, with a password."],
            "password": described(reference("secret"), "The user's password."),
            "tls": [
                "type": "object",
                "properties": [
                    "ca": [
                        "type": "string", "minLength": 1, "description": "A file with the trusted CA certificates.",
                    ],
                    "cert": [
                        "type": "string", "minLength": 1,
                        "description": "A file with the client's certificate, and those that lead to its authority.",
                    ],
                    "key": [
                        "type": "string", "minLength": 1,
                        "description": "A file with the certificate's key, which only its owner may read.",
                    ],
                ],
                "additionalProperties": false,
                "description": "Encrypts the connection.",
            ],
        ],
        "required": ["engine"],
        "additionalProperties": false,
        "description": "Where the outbox stores its events; by default, in a file below state.",
    ]

    /// Definitions that other parts of the schema refer to.
    static let commonDefinitions: JSONObject = [
        "duration": ["type": "string", "pattern": .string(durationPattern)],
        "variable": [
            "type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}",
            "description": "A value from the environment: ${NAME} or ${NAME:-default}.",
        ],
        "secret": secret,
    ]

    /// A schema with a description.
    static func described(_ schema: JSONValue, _ text: String) -> JSONValue {
        guard case .object(var object) = schema else { return schema }
        object["description"] = .string(text)
        return .object(object)
    }
}
