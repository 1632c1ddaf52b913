// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Derives the JSON Schema and a sample of a model from its members.
extension ModelMember {
    /// The JSON Schema (draft 2020-12) of a model with these members.
    package static func schema(of members: [ModelMember]) -> JSONValue {
        var schema: JSONObject = [
            "type": "object", "properties": .object(JSONObject(members.map { ($0.name, $0.schema) })),
        ]
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        return .object(schema)
    }

    /// A sample object: the members that have an example, without the alternatives to other members.
    package static func sample(of members: [ModelMember]) -> JSONValue {
        let shown = members.filter { $0.alternative == nil }
        return .object(JSONObject(shown.compactMap { member in member.sample.map { (member.name, $0) } }))
    }

    private var schema: JSONValue {
        var schema: JSONObject = ["description": .string(help)]
        switch kind {
        case .text: schema["type"] = "string"
        case .number: schema["type"] = "number"
        case .boolean: schema["type"] = "boolean"
        case .json: schema["type"] = ["object", "array"]
        case .choice(let words): schema["enum"] = .array(words.map { .string($0) })
        }
        if let sample { schema["examples"] = [sample] }
        return .object(schema)
    }

    private var sample: JSONValue? {
        guard !example.isEmpty else { return nil }
        return kind.isText ? .string(example) : try? JSONValue(parsing: example, file: name)
    }
}
