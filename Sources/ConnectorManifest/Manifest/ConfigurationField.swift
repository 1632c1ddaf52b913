// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// One field of a connector's `config` that a plugin reads.
public struct ConfigurationField: Sendable, Hashable {
    /// The key in `config`.
    public var name: String
    /// The type of the value.
    public var type: FieldType
    /// Whether a value is required; a required field has no default.
    public var isRequired: Bool
    /// The value that applies if none is given.
    public var defaultValue: JSONValue?
    /// Whether the host hides the value from the plugin, logs and reports, and inserts it only into requests.
    public var isSecret: Bool
    /// A one-sentence description for readers.
    public var documentation: String
    /// The only values allowed; empty allows all.
    public var allowedValues: [JSONValue]
    /// The lowest number allowed.
    public var minimum: Double?
    /// The highest number allowed.
    public var maximum: Double?
    /// Whether a required text may be empty: a function of a foreign library that needs one may take any.
    package var mayBeEmpty = false
    /// The type that a function of a foreign library takes the value as; nil if none takes it.
    package var parameter: ValueType?

    /// The type of a field's value.
    public enum FieldType: String, Sendable, Hashable, CaseIterable {
        /// Text.
        case string
        /// A 64-bit integer.
        case integer
        /// Any finite number.
        case number
        /// `true` or `false`.
        case boolean
        /// An absolute `http` or `https` URL.
        case url
        /// A number with a unit: `250ms`, `5s`, `2m`, `1h`.
        case duration
        /// The path of a file, which the host resolves from the directory of `connectors.json`.
        case path
        /// Any JSON.
        case json
    }
}

extension ConfigurationField {
    /// The reason this field rejects a value; nil if it accepts the value.
    package func problem(with value: JSONValue) -> String? {
        if let problem = typeProblem(with: value) ?? Self.textProblem(with: value) { return problem }
        let isAllowed = allowedValues.contains { $0 == value || ($0.number != nil && $0.number == value.number) }
        if !allowedValues.isEmpty, !isAllowed {
            return
                "must be one of \(allowedValues.prefix(20).map(\.description).joined(separator: ", ").excerpt(of: 300))"
        }
        return parameterProblem(with: value) ?? boundsProblem(with: value)
    }

    /// The reason this field rejects one of its allowed values; nil if it accepts the value.
    package func problem(withListed value: JSONValue) -> String? {
        typeProblem(with: value) ?? parameterProblem(with: value) ?? boundsProblem(with: value)
    }

    /// The reason a function cannot take a value that has this field's type; nil if it can, or if no function takes the field.
    private func parameterProblem(with value: JSONValue) -> String? {
        if value == .null, !isRequired { return nil }
        switch parameter {
        case .cstring:
            return value.string?.utf8.contains(0) ?? false ? "must not contain NUL" : nil
        case .u64:
            let number = value.string.flatMap { $0.utf8.allSatisfy(\.isDigit) ? UInt64($0) : nil }
            return value.integer == nil && number == nil ? "must be an integer from 0 to \(UInt64.max)" : nil
        case .bytes, .bytes32:
            let decoded = value["base64"]?.string.flatMap { Base64.decode($0) }
            return value.string == nil && decoded == nil
                ? "must be a string, or its bytes as {\"base64\": \"…\"}" : nil
        default: return nil
        }
    }

    /// The reason a value that was made in Swift cannot be given to a plugin as JSON; nil if it can.
    private static func textProblem(with value: JSONValue) -> String? {
        // The value is a member of the object that the plugin gets.
        let limit = JSONParser.depthLimit - 1
        return switch value.defect(limit: limit) {
        case .nesting: "must not be nested deeper than \(limit) levels"
        case .number(let number): "has the number \(number), which JSON cannot write"
        case nil: nil
        }
    }

    /// The reason a number is outside this field's bounds; nil if it is inside, and for any other value.
    private func boundsProblem(with value: JSONValue) -> String? {
        guard let number = value.number else { return nil }
        if let minimum, number < minimum { return "must be at least \(JSONValue.number(minimum).brief)" }
        if let maximum, number > maximum { return "must be at most \(JSONValue.number(maximum).brief)" }
        return nil
    }

    /// The reason a text is no URL.
    private static func urlProblem(with text: String) -> String {
        let rule = "must be an absolute http or https URL"
        if text.utf8.contains(where: { $0 >= 0x80 }) {
            return "\(rule), in ASCII: a name in another script begins with xn--"
        }
        if text.utf8.contains(where: { $0 <= 0x20 }) { return "\(rule), without blanks" }
        let authority = text.utf8.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }.prefix {
            !"/?#".utf8.contains($0)
        }
        let port = authority.reversed().prefix { $0 != UInt8(ascii: ":") }
        let isNumber = port.count < authority.count && !port.isEmpty && port.allSatisfy(\.isDigit)
        return isNumber && URLParts("http://host:\(String(decoding: port.reversed(), as: UTF8.self))") == nil
            ? "\(rule), with a port from 1 to 65535" : rule
    }

    /// The reason a value is no integer.
    private static func integerProblem(with value: JSONValue) -> String {
        value.exceedsIntegers ? "must be from \(Int64.min) to \(Int64.max)" : "must be an integer, not \(value.kind)"
    }

    /// The reason a value does not have this field's type; nil if it does.
    package func typeProblem(with value: JSONValue) -> String? {
        switch type {
        case .string: value.string == nil ? "must be a string, not \(value.kind)" : nil
        case .integer: value.integer == nil ? Self.integerProblem(with: value) : nil
        case .number: value.number == nil ? "must be a number, not \(value.kind)" : nil
        case .boolean: value.bool == nil ? "must be true or false, not \(value.kind)" : nil
        case .url: value.string.flatMap(URLParts.init) == nil ? Self.urlProblem(with: value.string ?? "") : nil
        case .duration:
            value.string.flatMap(Duration.init(parsing:)) == nil
                ? "must be a duration "
                    + (value.string.flatMap { Duration.range(violatedBy: $0, from: "0ms") }
                        ?? "such as \"250ms\" or \"5s\"") : nil
        case .path:
            value.string.map { $0.isEmpty || $0.utf8.contains(0) || $0.utf8.count > 4095 } ?? true
                ? "must be the path of a file, of 1 to 4095 bytes" : nil
        case .json: nil
        }
    }
}

extension JSONValue {
    /// The shortest form of a number.
    fileprivate var brief: String { integer.map { "\($0)" } ?? description }
}
