// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// JSON whose texts may refer to values of a call: `"${args.id}"` is the argument itself, `"note ${args.id}"` a text that has it.
///
/// A reference to nothing becomes null, or the empty text within a longer one; `${args.id:-none}` has a default.
indirect enum JSONTemplate: Sendable {
    /// JSON without references.
    case value(JSONValue)
    /// A text with references, and where it is in the file.
    case text(Template, at: JSONPath)
    case array([JSONTemplate])
    case object([(name: String, value: JSONTemplate)])

    /// The values of a call, by the name before the first dot of a reference.
    typealias Values = [String: JSONValue]

    /// The JSON with the values of a call filled in.
    ///
    /// - Throws: `too-large`.
    func filled(_ values: Values) throws(ConnectorError) -> JSONValue {
        var budget = TemplateBudget()
        return try filled(values, &budget, at: 0)
    }

    /// The filled-in JSON as a text: a string as it is, any other value as JSON.
    ///
    /// - Throws: `too-large`.
    func text(_ values: Values) throws(ConnectorError) -> String {
        let value = try filled(values)
        return value.string ?? value.serialized()
    }

    /// The filled-in JSON, which takes its bytes from `budget`.
    ///
    /// - Parameter depth: The number of arrays and objects around the value.
    private func filled(
        _ values: Values,
        _ budget: inout TemplateBudget,
        at depth: Int
    ) throws(ConnectorError) -> JSONValue {
        switch self {
        case .value(let value):
            try budget.take(value, at: depth)
            return value
        case .text(let template, _):
            let value = try template.filled(values, &budget)
            try budget.take(value, at: depth)
            return value
        case .array(let elements):
            try budget.enter(depth)
            var filled: [JSONValue] = []
            for element in elements { filled.append(try element.filled(values, &budget, at: depth + 1)) }
            return .array(filled)
        case .object(let members):
            try budget.enter(depth)
            var filled: [JSONObject.Member] = []
            for member in members {
                try budget.take(member.name.utf8.count + 4)
                let value = try member.value.filled(values, &budget, at: depth + 1)
                filled.append(JSONObject.Member(name: member.name, value: value))
            }
            return .object(JSONObject(unique: filled))
        }
    }

    /// The JSON, if nothing in it is a reference; nil otherwise.
    var constant: JSONValue? {
        switch self {
        case .value(let value): return value
        case .text: return nil
        case .array(let elements):
            let values = elements.compactMap(\.constant)
            return values.count == elements.count ? .array(values) : nil
        case .object(let members):
            let values = members.compactMap { member in
                member.value.constant.map { JSONObject.Member(name: member.name, value: $0) }
            }
            return values.count == members.count ? .object(JSONObject(unique: values)) : nil
        }
    }

    /// The names in all references, such as `args.id`, and the place of each in the file.
    var references: [(name: String, place: JSONPath)] {
        switch self {
        case .value: []
        case .text(let template, let place):
            template.parts.compactMap { if case .variable(let name, _) = $0 { (name, place) } else { nil } }
        case .array(let elements): elements.flatMap(\.references)
        case .object(let members): members.flatMap(\.value.references)
        }
    }
}

extension Template {
    /// The value of the reference if the text is nothing else; otherwise the text with values in place of its references.
    fileprivate func filled(
        _ values: JSONTemplate.Values,
        _ budget: inout TemplateBudget
    ) throws(ConnectorError) -> JSONValue {
        if isOneVariable, case .variable(let name, let fallback)? = parts.first {
            return Self.value(of: name, values) ?? fallback.map(Self.value(ofDefault:)) ?? .null
        }
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .variable(let name, let fallback):
                switch Self.value(of: name, values) {
                case .none: text += fallback ?? ""
                case .string(let value)?:
                    try budget.take(value.utf8.count)
                    text += value
                case let value?:
                    try budget.take(value, at: 0)
                    text += value.serialized()
                }
            }
        }
        return .string(text)
    }

    /// The value that a reference names; nil if it is null.
    private static func value(of name: String, _ values: JSONTemplate.Values) -> JSONValue? {
        let steps = name.split(ascii: ".").map(String.init)
        var value = steps.first.flatMap { values[$0] } ?? .null
        for step in steps.dropFirst() {
            let index = value.array == nil ? nil : Int(step)
            value = (index.map { value[$0] } ?? value[step]) ?? .null
        }
        return value == .null ? JSONValue?.none : value
    }

    /// The value of a default that stands alone: a number or a Boolean if it reads as one, otherwise a text.
    private static func value(ofDefault text: String) -> JSONValue {
        guard let value = try? JSONValue(parsing: text), value.number != nil || value.bool != nil else {
            return .string(text)
        }
        return value
    }
}
