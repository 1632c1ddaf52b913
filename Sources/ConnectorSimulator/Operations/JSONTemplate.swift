// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// JSON whose texts may refer to values of a call: `"${args.id}"` is the argument itself, `"note ${args.id}"` a text with it.
///
/// A reference to nothing is null, or no text; `${args.id:-none}` has a default.
indirect enum JSONTemplate: Sendable {
    /// JSON without references.
    case value(JSONValue)
    /// A text with references.
    case text(Template)
    case array([JSONTemplate])
    case object([(name: String, value: JSONTemplate)])

    /// The values that references may name, besides their members.
    static let names = ["args", "record", "records", "count", "time"]

    /// The values of a call by the name before the first dot.
    typealias Values = [String: JSONValue]

    /// Reads JSON.
    ///
    /// - Throws: What is wrong with a reference.
    init(_ value: JSONValue) throws(Template.ParseError) {
        switch value {
        case .string(let text):
            let template = try Template(parsing: text, isName: Self.isName)
            let isConstant = template.parts.allSatisfy { if case .text = $0 { true } else { false } }
            self = isConstant ? .value(.string(template.filled([:]))) : .text(template)
        case .array(let elements):
            var templates: [JSONTemplate] = []
            for element in elements { templates.append(try JSONTemplate(element)) }
            self = .array(templates)
        case .object(let object):
            var members: [(name: String, value: JSONTemplate)] = []
            for member in object.members { members.append((member.name, try JSONTemplate(member.value))) }
            self = .object(members)
        case .null, .bool, .integer, .number: self = .value(value)
        }
    }

    /// The JSON with the values of a call.
    func filled(_ values: Values) -> JSONValue {
        switch self {
        case .value(let value): value
        case .text(let template) where template.isOneVariable: template.value(values)
        case .text(let template): .string(template.filled(values))
        case .array(let elements): .array(elements.map { $0.filled(values) })
        case .object(let members): .object(JSONObject(members.map { ($0.name, $0.value.filled(values)) }))
        }
    }

    /// The names in all references, such as `args.id`.
    var references: [String] {
        switch self {
        case .value: []
        case .text(let template):
            template.parts.compactMap { if case .variable(let name, _) = $0 { name } else { nil } }
        case .array(let elements): elements.flatMap(\.references)
        case .object(let members): members.flatMap(\.value.references)
        }
    }

    /// Whether a text is a name, with the names of members after dots.
    private static func isName(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.first.map { names.contains(String($0)) } ?? false
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") }
            }
    }
}

extension Template {
    /// The text with values in place of the references: texts as they are, other values as JSON.
    fileprivate func filled(_ values: JSONTemplate.Values) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .variable: value(of: part, values).string ?? value(of: part, values).textOfScalar
            }
        }.joined()
    }

    /// The value of the only reference.
    fileprivate func value(_ values: JSONTemplate.Values) -> JSONValue {
        parts.first.map { value(of: $0, values) } ?? .null
    }

    private func value(of part: Part, _ values: JSONTemplate.Values) -> JSONValue {
        guard case .variable(let name, let fallback) = part else { return .null }
        let steps = name.split(separator: ".").map(String.init)
        var value = steps.first.flatMap { values[$0] } ?? .null
        for step in steps.dropFirst() {
            let index = value.array == nil ? nil : Int(step)
            value = (index.map { value[$0] } ?? value[step]) ?? .null
        }
        return value == .null ? fallback.map(JSONValue.string) ?? .null : value
    }
}

extension JSONValue {
    /// The value as part of a text; nothing for null.
    fileprivate var textOfScalar: String { self == .null ? "" : serialized() }
}
