// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Derives the JSON Schema and a sample of a model from its members.
extension ModelMember {
    /// The JSON Schema (draft 2020-12) of a model with these members.
    package static func schema(of members: [ModelMember]) -> JSONValue {
        .object(Kind.object(members).schema)
    }

    /// A sample object: the members that have an example, without the alternatives to other members.
    package static func sample(of members: [ModelMember]) -> JSONValue {
        let shown = members.filter { $0.alternative == nil }
        return .object(JSONObject(shown.compactMap { member in member.sample.map { (member.name, $0) } }))
    }

    fileprivate var schema: JSONValue {
        var schema: JSONObject = ["description": .string(help)]
        for keyword in kind.schema.members { schema[keyword.name] = keyword.value }
        switch kind {
        case .text where isRequired: schema["minLength"] = 1
        case .array where isRequired: schema["minItems"] = 1
        default: break
        }
        if let sample { schema["examples"] = [sample] }
        return .object(schema)
    }

    private var sample: JSONValue? {
        guard !example.isEmpty else { return nil }
        return kind.isText ? .string(example) : try? JSONValue(parsing: example, file: name)
    }
}

extension ModelMember.Kind {
    fileprivate var schema: JSONObject {
        switch self {
        case .text: ["type": "string"]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .scalar: ["type": ["string", "number", "boolean", "null"]]
        case .choice(let words): ["enum": .array(words.map { .string($0) })]
        case .object(let members, let isClosed): Self.schema(of: members, isClosed: isClosed)
        case .map(let kind): ["type": "object", "additionalProperties": .object(kind.schema)]
        case .array(let kind, let minimum): Self.schema(ofArrayOf: kind, minimum: minimum)
        case .either(let kinds): ["anyOf": .array(kinds.map { .object($0.schema) })]
        }
    }

    private static func schema(ofArrayOf kind: Self, minimum: Int) -> JSONObject {
        var schema: JSONObject = ["type": "array", "items": .object(kind.schema)]
        if minimum > 0 { schema["minItems"] = .integer(Int64(minimum)) }
        return schema
    }

    /// The schema of an object, at most one group of whose members are alternatives.
    private static func schema(of members: [ModelMember], isClosed: Bool) -> JSONObject {
        var schema: JSONObject = ["type": "object"]
        if !members.isEmpty { schema["properties"] = .object(JSONObject(members.map { ($0.name, $0.schema) })) }
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        let alternatives = members.filter { member in
            member.alternative != nil || members.contains { $0.alternative == member.name }
        }
        if !alternatives.isEmpty {
            let keyword = alternatives.contains(where: \.excludesAlternative) ? "oneOf" : "anyOf"
            schema[keyword] = .array(alternatives.map { ["required": [.string($0.name)]] })
        }
        if isClosed {
            schema["minProperties"] = 1
            schema["additionalProperties"] = false
        }
        return schema
    }
}
