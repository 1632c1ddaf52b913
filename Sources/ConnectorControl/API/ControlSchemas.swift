// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorOutbox

/// The JSON Schemas of the documents.
enum ControlSchemas {
    private static let text: JSONValue = ["type": "string"]
    private static let flag: JSONValue = ["type": "boolean"]
    private static let number: JSONValue = ["type": "integer", "minimum": 0]
    private static let version: JSONValue = ["const": 1]

    private static func object(_ required: JSONObject, _ others: JSONObject = [:]) -> JSONValue {
        [
            "type": "object",
            "required": .array(required.names.map(JSONValue.string)),
            "properties": .object(
                JSONObject(required.members.map { ($0.name, $0.value) } + others.members.map { ($0.name, $0.value) })
            ),
        ]
    }

    private static func list(of element: JSONValue) -> JSONValue { ["type": "array", "items": element] }

    /// An object whose members have names that the schema does not know, such as those of capabilities.
    private static func map(to value: JSONValue) -> JSONValue { ["type": "object", "additionalProperties": value] }

    private static let decimal: JSONValue = ["type": "number"]
    private static let textOrNull: JSONValue = ["type": ["string", "null"]]
    private static let numberOrNull: JSONValue = ["type": ["integer", "null"]]

    private static let states: JSONValue = ["enum": .array(GateState.allCases.map { .string($0.rawValue) })]
    private static let recordStates: JSONValue = [
        "enum": .array(OutboxRecord.State.allCases.map { .string($0.rawValue) })
    ]

    /// An error, of a gate or of a request. If a composite's children did not all take a call, `outcomes` has that of each leaf.
    private static let error: JSONValue = {
        var others = errorDetails
        others["outcomes"] = list(of: object(["path": text], ["error": object(errorNames, errorDetails)]))
        return object(errorNames, others)
    }()

    private static let errorNames: JSONObject = ["code": text, "message": text]
    private static let errorDetails: JSONObject = [
        "fix": text, "cause": text, "connector": text, "file": text, "line": number, "column": number,
        "retryable": flag, "sent": text, "retryAfterMilliseconds": number,
    ]

    /// The errors of a request.
    static let errors = object(["version": version, "errors": list(of: error)])

    /// The identity of a host.
    static let host = object(["version": version, "release": text, "file": text, "process": number])

    /// The report. The command adds `lastCrash`.
    static let status = object(
        ["version": version, "state": states, "ready": flag, "gates": list(of: gate)],
        [
            "outbox": object(["ready": flag, "error": error]),
            "configuration": object(
                ["sha256": text, "since": text],
                ["errors": list(of: error), "watching": object(["events": flag], ["reason": text])]
            ),
            "images": object(
                ["count": number, "bytes": number],
                ["staticTLS": object(["count": number, "bytes": number], ["limit": number])]
            ),
            "runners": list(
                of: object(
                    ["name": text, "process": number, "restarts": number, "connectors": list(of: text)],
                    ["memoryBytes": number, "standbys": list(of: text)]
                )
            ),
            "lastCrash": lastCrash,
        ]
    )

    /// One connector of the report.
    private static let gate = object(
        ["path": text, "state": states, "target": states, "required": flag, "ready": flag],
        [
            "places": list(of: text), "simulated": flag, "policy": text, "quorum": number, "attempts": number,
            "nextAttemptAt": text, "error": error, "openMilliseconds": decimal,
            "plugin": object(["id": text, "version": text], ["sha256": text, "linked": flag, "local": flag]),
            "evidence": list(of: object(["kind": text, "detail": text, "at": text, "milliseconds": decimal])),
            "capabilities": map(to: list(of: text)), "uses": map(to: text),
            "secrets": list(
                of: object(
                    ["field": text, "source": text, "changedAt": text, "inUse": flag, "proved": flag],
                    ["error": text]
                )
            ),
            "isolation": text, "sandbox": text, "crashes": number, "generation": number, "trial": flag,
            "draining": number, "misbehaviours": number, "warnings": list(of: text),
            "standby": standby, "breaker": breaker, "http": http, "differences": differences, "canary": canary,
            "outbox": queue, "promotion": object(["reason": text, "at": text, "until": text]),
            "calls": object(["total": number, "failures": number], ["lastFailure": error]),
        ]
    )

    private static let standby = object(
        ["state": ["enum": ["ready", "opening", "missing"]], "takeovers": number],
        ["process": number, "error": error]
    )

    private static let breaker = object(
        [
            "state": ["enum": ["closed", "open", "half-open"]], "failures": number, "openings": number,
            "refusals": number,
        ],
        ["nextTrialAt": text]
    )

    private static let http = object(
        ["requests": number, "failures": number, "bytesSent": number, "bytesReceived": number],
        ["cached": number, "lastStatus": number]
    )

    private static let differences = object([
        "compared": number, "different": number, "skipped": number, "last": textOrNull,
    ])

    /// The outbox of one connector.
    private static let queue = object(
        [
            "queued": number, "bytes": number, "dead": number, "delivered": number, "dropped": number,
            "perSecond": decimal,
        ],
        [
            "stability": text, "oldest": text, "lastDelivered": text, "code": text, "failure": text,
            "nextAttemptAt": text,
        ]
    )

    private static let canary = object(["share": decimal, "first": share, "second": share], ["withdrawal": text])

    /// One child of a canary.
    private static let share = object(
        ["path": text, "calls": number, "failures": number],
        ["meanMilliseconds": decimal]
    )

    /// How an earlier command on the file ended; null is what is not known.
    private static let lastCrash = object([
        "event": text, "command": textOrNull, "process": numberOrNull, "plugin": textOrNull, "gates": textOrNull,
        "path": textOrNull, "offset": textOrNull, "function": textOrNull, "source": textOrNull, "time": text,
        "address": textOrNull, "thread": numberOrNull,
        "frames": list(of: object(["file": text, "offset": text], ["function": text, "source": text])),
    ])

    /// The operations of every leaf.
    static let operations = object([
        "version": version,
        "connectors": list(
            of: object(
                [
                    "path": text,
                    "operations": list(
                        of: object(["capability": text, "name": text, "signature": text, "documentation": text])
                    ),
                ],
                ["places": list(of: text)]
            )
        ),
    ])

    /// The answer of an operation.
    static let answer = object(["version": version, "path": text, "operation": text, "result": [:]])

    /// An event of a plugin.
    static let pluginEvent = object([
        "version": version, "at": text, "connector": text, "name": text, "payload": [:], "missed": number,
    ])

    /// The files in the plugin directories.
    static let plugins = object(
        [
            "version": version, "directories": list(of: text),
            "plugins": list(
                of: object(
                    ["path": text, "usable": flag],
                    [
                        "sidecar": text, "id": text, "version": text, "documentation": text, "language": text,
                        "capabilities": list(of: text), "error": error, "problems": list(of: error),
                        "warnings": list(of: text), "conformance": object(["level": number, "host": text]),
                    ]
                )
            ),
        ],
        ["loaded": loaded, "warnings": list(of: text)]
    )

    private static let loaded = list(
        of: object([
            "path": text, "images": list(of: object(["plugin": text, "bytes": number, "connectors": list(of: text)])),
        ])
    )

    /// The images in the memory of a host.
    static let images = object(["version": version, "loaded": loaded])

    /// The queue of each connector.
    static let outbox = object([
        "version": version,
        "outboxes": list(
            of: object(
                [
                    "connector": text, "queued": number, "bytes": number, "dead": number, "delivered": number,
                    "dropped": number,
                ],
                ["oldest": text, "lastDelivered": text]
            )
        ),
    ])

    /// One event, at each connector that receives it; `outbox explain` omits the payload, `event`.
    static let outboxEvent = object(
        [
            "version": version, "id": text, "capability": text, "operation": text, "createdAt": text,
            "connectors": list(
                of: object(
                    [
                        "connector": text, "state": recordStates,
                        "attempts": list(
                            of: object(["at": text, "until": text, "count": number], ["code": text, "reason": text])
                        ),
                    ],
                    ["nextAttemptAt": text]
                )
            ),
        ],
        ["event": [:]]
    )

    /// Dead letters.
    static let dead = object(
        [
            "version": version,
            "dead": list(
                of: object(
                    ["id": text, "connector": text, "capability": text, "operation": text, "createdAt": text],
                    ["code": text, "reason": text]
                )
            ),
        ],
        ["next": text]
    )

    /// What a reload would change.
    static let plan = object(
        [
            "version": version, "running": text, "target": text,
            "changes": list(
                of: object(
                    ["path": text, "change": text, "leaf": flag, "cost": text],
                    [
                        "was": text, "fields": list(of: object(["name": text], ["from": text, "to": text])),
                        "events": object(["queued": number, "outcome": text]),
                        "wants": object([
                            "hosts": list(of: text), "services": list(of: text), "capabilities": list(of: text),
                        ]),
                        "image": object(
                            ["path": text, "bytes": number],
                            ["staticTLS": number, "staticTLSLeft": ["type": "integer"]]
                        ),
                    ]
                )
            ),
            "kept": list(of: text),
        ],
        [
            "settings": list(of: object(["name": text], ["from": text, "to": text])), "restart": list(of: text),
            "basis": ["type": "object"],
        ]
    )

    /// How a reload ended.
    static let reload = object(
        ["version": version, "active": flag, "sha256": text],
        [
            "phase": ["enum": .array(Reload.Phase.allCases.map { .string($0.rawValue) })], "errors": list(of: error),
            "rolledBack": list(of: text), "draining": list(of: text), "plan": plan,
        ]
    )

    /// The number of events that were replayed or dropped, with an error for letters that a replay leaves; the command adds one for ids
    /// that belong to none.
    static func count(of done: String) -> JSONValue {
        object(["version": version, done: number], ["errors": list(of: error)])
    }

    // MARK: Names

    /// The schemas that have a name in the description of the API.
    private static let named: [(name: String, schema: JSONValue)] = [
        ("Error", error), ("Errors", errors), ("Host", host), ("Report", status), ("Gate", gate),
        ("Operations", operations), ("Answer", answer), ("Event", pluginEvent), ("Plugins", plugins),
        ("Images", images), ("Outbox", outbox), ("OutboxEvent", outboxEvent), ("DeadLetters", dead), ("Plan", plan),
        ("Reload", reload),
    ]

    /// The schemas by name, which refer to each other.
    static var components: JSONObject {
        JSONObject(named.map { ($0.name, referringInside($0.schema)) })
    }

    /// A schema with references in place of those that have a name, itself included.
    static func referring(_ schema: JSONValue) -> JSONValue {
        guard let name = named.first(where: { $0.schema == schema })?.name else { return referringInside(schema) }
        return ["$ref": .string("#/components/schemas/\(name)")]
    }

    private static func referringInside(_ schema: JSONValue) -> JSONValue {
        switch schema {
        case .array(let elements): .array(elements.map(referring))
        case .object(let object): .object(JSONObject(object.members.map { ($0.name, referring($0.value)) }))
        default: schema
        }
    }
}
