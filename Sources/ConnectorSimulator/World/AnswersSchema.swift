// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The JSON Schema (draft 2020-12) of a file of answers, for editors.
///
/// It accepts what ``SimulatedWorld`` accepts, and refuses what that refuses, as far as a schema can express it. Only the host checks what
/// templates refer to, the settings of a `fault`, days that no month has, sizes in bytes, and that answers fit the manifest.
package enum AnswersSchema {
    /// The schema as JSON.
    package static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Answers",
            "description": "What takes the place of a vendor or a plugin under --simulate, and what happens meanwhile.",
            "type": "object",
            "properties": [
                "version": [
                    "const": .integer(SimulatedWorld.formatVersion), "description": "The version of the format.",
                ],
                "exact": [
                    "type": "boolean",
                    "description":
                        "Whether a request with more in its query or body gets no answer, and one without an answer fails instead of getting 404. True in recordings.",
                ],
                "time": [
                    "type": "string",
                    "pattern": .string(timePattern),
                    "description":
                        "The time of day that the plugin reads on its clock, which stands still, such as 2026-01-31T09:30:00Z.",
                ],
                "answers": [
                    "type": "array",
                    "items": reference("answer"),
                    "description":
                        "The answers to the plugin's HTTP requests; the first that matches and is not used up counts.",
                ],
                "calls": [
                    "type": "array",
                    "items": reference("call"),
                    "description":
                        "The calls of a recording, and how each ended: connector-host test checks that they end so again.",
                ],
                "operations": [
                    "type": "array",
                    "items": reference("operation"),
                    "description": "The answers to calls of a plugin of which there is only the manifest.",
                ],
                "timeline": [
                    "type": "array",
                    "items": reference("entry"),
                    "description": "What happens without a call, on the host's clock.",
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["version"],
            "anyOf": [["required": ["answers"]], ["required": ["operations"]], ["required": ["timeline"]]],
            "allOf": [
                [
                    "if": ["not": ["required": ["operations"]]],
                    "then": timeline(without: ["error", "operations", "keep", "remove"]),
                ],
                [
                    "if": ["required": ["operations"], "not": ["required": ["answers"]]],
                    "then": timeline(without: ["fault", "answers"]),
                ],
            ],
            "$defs": [
                "duration": duration,
                "place": place,
                "kept": kept,
                "error": failure,
                "answer": answer,
                "call": call,
                "operation": operation,
                "entry": entry,
            ],
        ]
    }

    /// The schema as a part of another one, in which its definitions have other places.
    ///
    /// - Parameter place: The reference to this part, such as `#/$defs/answers`.
    package static func json(at place: String) -> JSONValue {
        var object = json.object ?? JSONObject()
        object["$schema"] = nil
        return moved(.object(object), to: place)
    }

    /// - Parameter value: A part of this schema, so of small depth.
    private static func moved(_ value: JSONValue, to place: String) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map { moved($0, to: place) })
        case .object(let object):
            .object(
                JSONObject(
                    unique: object.members.map { member in
                        guard member.name == "$ref", let reference = member.value.string else {
                            return JSONObject.Member(name: member.name, value: moved(member.value, to: place))
                        }
                        return JSONObject.Member(name: "$ref", value: .string(place + reference.dropFirst()))
                    }
                )
            )
        case .null, .bool, .integer, .number, .string: value
        }
    }

    /// A whole number with a unit, up to a year.
    private static var duration: JSONValue { ["type": "string", "pattern": .string(pattern(ofTimeUpTo: .longest))] }

    /// A duration within bounds.
    private static func boundedDuration(_ description: String? = nil, pattern: String) -> JSONValue {
        var schema: JSONObject = ["$ref": "#/$defs/duration", "pattern": .string(pattern)]
        if let description { schema["description"] = .string(description) }
        return .object(schema)
    }

    /// A file whose timeline changes nothing of this kind.
    private static func timeline(without names: [String]) -> JSONValue {
        let forbidden = JSONObject(names.map { ($0, JSONValue.bool(false)) })
        return ["properties": ["timeline": ["items": ["properties": .object(forbidden)]]]]
    }

    /// Where a record is.
    private static var place: JSONValue {
        [
            "type": "object",
            "properties": ["in": ["description": "The collection."], "key": ["description": "The record's key."]],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["in", "key"],
        ]
    }

    /// A record to keep.
    private static var kept: JSONValue {
        [
            "type": "object",
            "properties": [
                "in": ["description": "The collection."],
                "key": ["description": "The record's key."],
                "value": ["description": "The record; its texts may refer to values of the call."],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["in", "key", "value"],
        ]
    }

    /// How a call or a request can fail.
    private static var codes: JSONValue {
        ["enum": .array(SimulatedFailure.codes.map { .string($0.rawValue) })]
    }

    /// How a call fails.
    private static var failure: JSONValue {
        [
            "type": "object",
            "properties": [
                "code": codes,
                "message": ["type": "string", "description": "Its text may refer to values of the call."],
                "retryable": ["type": "boolean"],
                "retryAfter": boundedDuration(pattern: delayPattern),
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["code"],
            "description": "How the call fails.",
        ]
    }

    /// An answer to an HTTP request.
    private static var answer: JSONValue {
        [
            "type": "object",
            "properties": [
                "method": ["type": "string", "pattern": "^[A-Za-z-]+$", "description": "Every method, if absent."],
                "path": [
                    "type": "string",
                    "pattern": "^/[^?]*$",
                    "description":
                        "Each * stands for any text; so it does in when, apart from the body, and in the body of a recording.",
                ],
                "when": [
                    "type": "object",
                    "properties": [
                        "headers": ["type": "object", "additionalProperties": ["type": "string"]],
                        "query": ["type": "object", "additionalProperties": ["type": "string"]],
                        "body": [
                            "description":
                                "A text that the body contains, or JSON of which it has at least every member."
                        ],
                        "base64": [
                            "type": "string", "pattern": .string(base64Pattern),
                            "description": "The body, if it is not text.",
                        ],
                        "sha256": [
                            "type": "string", "pattern": "^[0-9a-f]{64}$",
                            "description": "The SHA-256 of the body, in hexadecimal.",
                        ],
                    ],
                    "patternProperties": annotations,
                    "additionalProperties": false,
                    "description": "What else the request must have.",
                ],
                "times": [
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1_000_000,
                    "description": "How many requests get the answer; all, if absent.",
                ],
                "delay": boundedDuration("How long the response is delayed, at most 1h.", pattern: delayPattern),
                "status": ["type": "integer", "minimum": 200, "maximum": 999],
                "headers": [
                    "type": "object",
                    "additionalProperties": [
                        "type": "string", "pattern": "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F]*$",
                    ],
                    "propertyNames": ["pattern": "^[!-9;-~]+$"],
                ],
                "json": true,
                "text": ["type": "string"],
                "base64": [
                    "type": "string", "pattern": .string(base64Pattern), "description": "A body that is not text.",
                ],
                "error": [
                    "type": "object",
                    "properties": [
                        "code": codes,
                        "message": [
                            "type": "string", "maxLength": .integer(Int64(RequestFailure.messageLimit)),
                            "description": "At most 8 KiB.",
                        ],
                        "retryable": ["type": "boolean"],
                    ],
                    "patternProperties": annotations,
                    "additionalProperties": false,
                    "required": ["code"],
                    "description": "How the request fails in the host, in place of a response or after one.",
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["path"],
            "allOf": .array(
                [("json", "text"), ("json", "base64"), ("text", "base64")].map {
                    ["not": ["required": [.string($0), .string($1)]]]
                }
            ),
        ]
    }

    /// A call of a recording.
    private static var call: JSONValue {
        [
            "type": "object",
            "properties": [
                "operation": [
                    "type": "string",
                    "description": "The operation, as capability/operation or capability/version/operation.",
                ],
                "arguments": ["type": "object"],
                "result": ["description": "What it returned; null if absent."],
                "error": [
                    "type": "object",
                    "properties": ["code": ["type": "string"]],
                    "patternProperties": annotations,
                    "additionalProperties": false,
                    "required": ["code"],
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["operation"],
            "not": ["required": ["result", "error"]],
        ]
    }

    /// An answer to a call.
    private static var operation: JSONValue {
        [
            "type": "object",
            "properties": [
                "operation": [
                    "type": "string",
                    "description": """
                    The operation; capability/operation if two capabilities share the name, capability/version/operation if two \
                    versions do.
                    """,
                ],
                "when": ["type": "object", "description": "What the arguments have at least."],
                "times": [
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1_000_000,
                    "description": "How many calls get the answer; all, if absent.",
                ],
                "delay": boundedDuration("How long the call takes, at most 1h.", pattern: delayPattern),
                "read": ["$ref": "#/$defs/place", "description": "The record that must exist: ${record}."],
                "remove": [
                    "$ref": "#/$defs/place",
                    "description": "The record that must exist, and is removed: ${record}.",
                ],
                "list": ["description": "The collection whose records are ${records}."],
                "keep": ["$ref": "#/$defs/kept", "description": "A record to keep: ${record}."],
                "result": [
                    "description":
                        "The result; null if absent. Its texts may refer to ${args.NAME}, ${record}, ${records}, ${count} and ${time}."
                ],
                "error": reference("error"),
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "required": ["operation"],
            "not": ["required": ["result", "error"]],
        ]
    }

    /// Something that happens without a call.
    private static var entry: JSONValue {
        [
            "type": "object",
            "properties": [
                "at": ["$ref": "#/$defs/duration", "description": "When it first happens."],
                "every": boundedDuration("How often it happens from then on.", pattern: positivePattern),
                "times": [
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1_000_000,
                    "description": "How often it happens at most.",
                ],
                "for": boundedDuration(
                    "How long the fault, the error or the answers last; for good if absent.",
                    pattern: positivePattern
                ),
                "event": [
                    "type": "object",
                    "properties": [
                        "name": ["type": "string", "pattern": "^[A-Za-z][A-Za-z0-9._-]{0,63}$"],
                        "payload": ["description": "Its texts may refer to ${count} and ${time}."],
                    ],
                    "patternProperties": annotations,
                    "additionalProperties": false,
                    "required": ["name"],
                    "description": "The event that the gate sends, if it is open.",
                ],
                "keep": ["$ref": "#/$defs/kept", "description": "A record to keep."],
                "remove": ["$ref": "#/$defs/place", "description": "A record to remove."],
                "fault": [
                    "type": "string",
                    "description":
                        "A fault of the vendor's HTTP API, as in connector-host simulate --fault: status=503, reset, slow=2s.",
                ],
                "error": [
                    "$ref": "#/$defs/error",
                    "description": "How every call and every proof of a simulated interface fails.",
                ],
                "answers": [
                    "type": "array",
                    "items": reference("answer"),
                    "description": "Answers to the plugin's HTTP requests, before all others.",
                ],
                "operations": [
                    "type": "array",
                    "items": reference("operation"),
                    "description": "Answers to calls of a simulated interface, before all others.",
                ],
            ],
            "patternProperties": annotations,
            "additionalProperties": false,
            "anyOf": [["required": ["at"]], ["required": ["every"]]],
            "dependentRequired": ["times": ["every"]],
            "allOf": [
                oneOrMore(of: ["event", "keep", "remove"] + lasting),
                ["if": ["required": ["for"]], "then": oneOrMore(of: lasting)],
            ],
        ]
    }

    /// What an entry of the timeline can begin that lasts for a while.
    private static let lasting = ["fault", "error", "answers", "operations"]

    /// An object that has at least one of these members.
    private static func oneOrMore(of names: [String]) -> JSONValue {
        ["anyOf": .array(names.map { ["required": [.string($0)]] })]
    }

    // MARK: Patterns

    /// A duration of at most an hour.
    private static let delayPattern = pattern(ofTimeUpTo: .seconds(3600))
    private static func pattern(ofTimeUpTo bound: Duration) -> String {
        "^(\(NumberPattern.noTime)|\(NumberPattern.durations(upTo: bound)))$"
    }
    /// A duration of more than nothing.
    private static let positivePattern = "^0*[1-9]"
    /// RFC 3339, in the years that ``Timestamp`` reads.
    private static let timePattern: String = {
        let date = "(19[7-9][0-9]|2[0-4][0-9]{2}|2500)-[0-9]{2}-[0-9]{2}"
        return "^\(date)[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
    }()
    private static let base64Pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

    // MARK: Parts

    /// Allows keys such as `$schema` and `$comment` in any object.
    private static let annotations: JSONValue = ["^\\$": true]

    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }
}
