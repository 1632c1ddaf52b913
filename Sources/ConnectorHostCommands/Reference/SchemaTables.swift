// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The keys of a JSON Schema as Markdown tables: one for the root, and one for each definition with a section.
struct SchemaTables {
    private let root: JSONValue
    private let definitions: JSONObject
    private let sections: [(name: String, title: String)]
    private let folded: Set<String>

    /// Creates the tables of a schema.
    ///
    /// - Parameters:
    ///   - sections: The definitions with a table of their own, in order; others are shown where they are used.
    ///   - folded: The keys whose members are documented on another page.
    init(of schema: JSONValue, sections: [(name: String, title: String)], folded: Set<String> = []) {
        self.folded = folded
        root = schema
        definitions = schema["$defs"]?.object ?? JSONObject()
        self.sections = sections
    }

    /// All tables, each below a heading.
    func text(title: String) -> String {
        let rest = sections.compactMap { section in
            definitions[section.name].map { table(of: $0, title: section.title) }
        }
        return ([table(of: root, title: title)] + rest).joined(separator: "\n\n")
    }

    private func table(of schema: JSONValue, title: String) -> String {
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        let lines = ["## \(title)", "", "| key | value | meaning | default |", "|---|---|---|---|"]
        return (lines + rows(of: objectForm(of: schema), below: "", required)).joined(separator: "\n")
    }

    /// The rows of an object's members, and those of the objects within it.
    private func rows(of schema: JSONValue, below path: String, _ required: [String]) -> [String] {
        (schema["properties"]?.object?.members ?? []).flatMap { member -> [String] in
            guard member.value != .bool(false) else { return [] }
            let name = path + member.name
            let value = member.value
            let cells = [
                "`\(name)`\(required.contains(member.name) ? " (required)" : "")",
                kind(of: value),
                value["description"]?.string ?? "",
                value["default"].map { "`\($0)`" } ?? "",
            ]
            let row = MarkdownTable.row(cells)
            guard !folded.contains(name) else { return [row] }
            let within = objectForm(of: value)
            return [row] + rows(of: within, below: "\(name).", within["required"]?.array?.compactMap(\.string) ?? [])
        }
    }

    /// The form of a value that is an object with named members; the schema itself if there is none.
    private func objectForm(of schema: JSONValue) -> JSONValue {
        if schema["properties"] != nil { return schema }
        return schema["anyOf"]?.array?.first { $0["properties"] != nil } ?? schema
    }

    // MARK: Kinds

    /// The kind of value, in a few words.
    private func kind(of schema: JSONValue) -> String {
        if let reference = schema["$ref"]?.string { return kind(ofReference: reference) }
        if let value = schema["const"] { return "`\(value)`" }
        if let values = schema["enum"]?.array { return values.map { "`\($0)`" }.joined(separator: ", ") }
        if let forms = schema["anyOf"]?.array, schema["properties"] == nil {
            return forms.map(kind).reduced.joined(separator: ", or ")
        }
        switch schema["type"]?.string {
        case "array": return schema["items"].map { "array: \(kind(of: $0))" } ?? "array"
        case "object":
            guard let value = schema["additionalProperties"], value.object != nil else {
                return schema["patternProperties"]?.object?.members.first { $0.value["$ref"] != nil }
                    .map { "object: \(kind(of: $0.value))" } ?? "object"
            }
            return schema["properties"] == nil ? "object: \(kind(of: value))" : "object"
        case let type?: return type + range(of: schema)
        case nil: return "any"
        }
    }

    private func kind(ofReference reference: String) -> String {
        let name = reference.split(separator: "/").last.map(String.init) ?? reference
        guard let section = sections.first(where: { $0.name == name }) else {
            let isNamed = ["duration", "variable", "secret", "answers"].contains(name)
            return isNamed ? name : definitions[name].map(kind) ?? name
        }
        let anchor = section.title.lowercased().replacing(" ", with: "-")
        return "[\(section.title.lowercased())](#\(anchor))"
    }

    /// The bounds of a number.
    private func range(of schema: JSONValue) -> String {
        switch (schema["minimum"], schema["maximum"]) {
        case (let low?, let high?): " \(low) to \(high)"
        case (let low?, nil): " from \(low)"
        case (nil, let high?): " to \(high)"
        case (nil, nil): ""
        }
    }
}

extension [String] {
    /// The texts in order, without duplicates.
    fileprivate var reduced: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
