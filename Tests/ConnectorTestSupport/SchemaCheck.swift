// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Says where a value breaks a JSON Schema, with the keywords that this project's schemas use.
package struct SchemaCheck {
    private let schema: JSONValue

    /// - Parameter isClosed: Whether a member that the schema does not name breaks it, even where the schema allows others.
    package init(schema: JSONValue, isClosed: Bool = false) {
        self.schema = isClosed ? Self.closed(schema) : schema
    }

    /// The schema without permission for members that it does not name.
    private static func closed(_ schema: JSONValue) -> JSONValue {
        if let elements = schema.array { return .array(elements.map(closed)) }
        guard let rules = schema.object else { return schema }
        var all = JSONObject(rules.members.map { ($0.name, closed($0.value)) })
        if rules["properties"] != nil, rules["additionalProperties"] == nil { all["additionalProperties"] = false }
        return .object(all)
    }

    /// The keywords that are understood; a schema with another one would accept too much.
    private static let keywords: Set = [
        "$schema", "$defs", "$ref", "title", "description", "default", "examples", "type", "enum", "const", "pattern",
        "minLength", "maxLength", "minimum", "maximum", "items", "minItems", "maxItems", "uniqueItems", "properties",
        "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties", "maxProperties",
        "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "contains", "dependentRequired",
    ]

    /// The paths at which the value breaks the schema, with the keyword.
    package func faults(in value: JSONValue) throws -> [String] { try faults(value, schema, "") }

    private func faults(_ value: JSONValue, _ schema: JSONValue, _ path: String) throws -> [String] {
        if case .bool(let isAllowed) = schema { return isAllowed ? [] : ["\(path): not allowed"] }
        guard let rules = schema.object else { return ["\(path): the schema is not an object"] }
        var faults = rules.names.filter { !Self.keywords.contains($0) }.map { "\(path): the keyword \($0)" }
        func check(_ keyword: String, _ isRight: (JSONValue) throws -> Bool) rethrows {
            guard let rule = rules[keyword], try !isRight(rule) else { return }
            faults.append("\(path): \(keyword)")
        }
        if let name = rules["$ref"]?.string?.split(separator: "/").last.map(String.init) {
            faults += try self.faults(value, self.schema["$defs"]?[name] ?? .null, path)
        }
        check("const") { $0 == value }
        check("enum") { $0.array?.contains(value) == true }
        check("type") { rule in (rule.array ?? [rule]).contains { Self.has(value, $0.string) } }
        try check("anyOf") { try ($0.array ?? []).contains { try self.faults(value, $0, path).isEmpty } }
        try check("oneOf") { try ($0.array ?? []).count { try self.faults(value, $0, path).isEmpty } == 1 }
        for part in rules["allOf"]?.array ?? [] { faults += try self.faults(value, part, path) }
        try check("not") { try !self.faults(value, $0, path).isEmpty }
        if let condition = rules["if"] {
            let branch = try self.faults(value, condition, path).isEmpty ? rules["then"] : rules["else"]
            if let branch { faults += try self.faults(value, branch, path) }
        }
        if let text = value.string {
            try check("pattern") { try text.contains(Regex($0.string ?? "")) }
            check("minLength") { text.count >= $0.integer ?? 0 }
            check("maxLength") { text.count <= $0.integer ?? 0 }
        }
        if let number = value.number {
            check("minimum") { number >= $0.number ?? 0 }
            check("maximum") { number <= $0.number ?? 0 }
        }
        if let elements = value.array {
            check("minItems") { elements.count >= $0.integer ?? 0 }
            check("maxItems") { elements.count <= $0.integer ?? 0 }
            try check("contains") { rule in
                try elements.contains { try self.faults($0, rule, path).isEmpty }
            }
            check("uniqueItems") { $0 != true || Set(elements.map(\.description)).count == elements.count }
            for (index, element) in elements.enumerated() {
                if let items = rules["items"] { faults += try self.faults(element, items, "\(path)[\(index)]") }
            }
        }
        if let object = value.object { faults += try members(of: object, rules, path) }
        return faults
    }

    private func members(of object: JSONObject, _ rules: JSONObject, _ path: String) throws -> [String] {
        var faults: [String] = []
        for name in rules["required"]?.array?.compactMap(\.string) ?? [] where object[name] == nil {
            faults.append("\(path): required \(name)")
        }
        for member in rules["dependentRequired"]?.object?.members ?? [] where object[member.name] != nil {
            for name in member.value.array?.compactMap(\.string) ?? [] where object[name] == nil {
                faults.append("\(path): dependentRequired \(name)")
            }
        }
        if let least = rules["minProperties"]?.integer, object.members.count < least {
            faults.append("\(path): minProperties")
        }
        if let most = rules["maxProperties"]?.integer, object.members.count > most {
            faults.append("\(path): maxProperties")
        }
        for member in object.members {
            let here = "\(path).\(member.name)"
            if let names = rules["propertyNames"] {
                faults += try self.faults(.string(member.name), names, "\(here) as a name")
            }
            var isKnown = false
            if let known = rules["properties"]?[member.name] {
                isKnown = true
                faults += try self.faults(member.value, known, here)
            }
            for pattern in rules["patternProperties"]?.object?.members ?? []
            where try member.name.contains(Regex(pattern.name)) {
                isKnown = true
                faults += try self.faults(member.value, pattern.value, here)
            }
            if !isKnown, let others = rules["additionalProperties"] {
                faults += try self.faults(member.value, others, here)
            }
        }
        return faults
    }

    private static func has(_ value: JSONValue, _ type: String?) -> Bool {
        switch type {
        case "object": value.object != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "integer": value.integer != nil
        case "number": value.number != nil
        case "boolean": value.bool != nil
        case "null": value == .null
        default: false
        }
    }
}
