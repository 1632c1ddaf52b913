// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The `where` of a query, which selects objects.
struct ParseConstraint {
    /// The deepest nesting of `$or`, `$and` and `$nor`.
    private static let depthLimit = 16

    /// The constraint as sent.
    private let fields: JSONObject

    /// Creates a constraint from an object, or a string with its JSON; `nil` selects everything.
    init(_ value: JSONValue?) throws(ParseFailure) {
        switch value {
        case nil, .null?: fields = JSONObject()
        case .object(let object)?: fields = object
        case .string(let text)?:
            guard let object = (try? JSONValue(parsing: text))?.object else { throw .json("invalid JSON") }
            fields = object
        default: throw .query("where must be an object")
        }
    }

    /// Whether an object is selected.
    func matches(_ object: JSONObject) throws(ParseFailure) -> Bool {
        try Self.matches(object, fields, depth: 0)
    }

    /// Tests every field of a constraint.
    private static func matches(_ object: JSONObject, _ fields: JSONObject, depth: Int) throws(ParseFailure) -> Bool {
        guard depth < depthLimit else { throw .query("Query is nested too deeply") }
        for member in fields.members {
            switch member.name {
            case "$or", "$and", "$nor":
                guard let parts = member.value.array else {
                    throw .query("Bad \(member.name) format - use an array value.")
                }
                var count = 0
                for part in parts {
                    guard let fields = part.object else {
                        throw .query("Bad \(member.name) format - use an array value.")
                    }
                    if try matches(object, fields, depth: depth + 1) { count += 1 }
                }
                let holds =
                    switch member.name {
                    case "$or": count > 0
                    case "$and": count == parts.count
                    default: count == 0
                    }
                guard holds else { return false }
            default:
                guard try matches(value(of: member.name, in: object), member.value) else { return false }
            }
        }
        return true
    }

    /// Tests one field: against a value, or against every operator.
    private static func matches(_ value: JSONValue?, _ constraint: JSONValue) throws(ParseFailure) -> Bool {
        guard let operators = constraint.object, operators.members.first?.name.hasPrefix("$") == true else {
            return equals(value, constraint)
        }
        for member in operators.members {
            guard try matches(value, member.name, member.value, options: operators["$options"]?.string) else {
                return false
            }
        }
        return true
    }

    /// Tests one operator.
    private static func matches(
        _ value: JSONValue?,
        _ name: String,
        _ operand: JSONValue,
        options: String?
    ) throws(ParseFailure) -> Bool {
        switch name {
        case "$eq": return equals(value, operand)
        case "$ne": return !equals(value, operand)
        case "$lt": return compare(value, operand).map { $0 < 0 } ?? false
        case "$lte": return compare(value, operand).map { $0 <= 0 } ?? false
        case "$gt": return compare(value, operand).map { $0 > 0 } ?? false
        case "$gte": return compare(value, operand).map { $0 >= 0 } ?? false
        case "$exists": return (value != nil && value != .null) == (operand.bool ?? true)
        case "$in", "$nin":
            guard let elements = operand.array else { throw .query("bad \(name) value") }
            return elements.contains { equals(value, $0) } == (name == "$in")
        case "$all":
            guard let elements = operand.array else { throw .query("bad $all value") }
            return elements.allSatisfy { element in value?.array?.contains { equals($0, element) } ?? false }
        case "$regex": return try matches(value, pattern: operand, options: options)
        case "$options": return true
        default: throw .query("bad constraint: \(name)")
        }
    }

    /// Tests a regular expression; `i` in the options folds case.
    private static func matches(
        _ value: JSONValue?,
        pattern: JSONValue,
        options: String?
    ) throws(ParseFailure) -> Bool {
        guard let pattern = pattern.string, pattern.utf8.count <= 512, let regex = try? Regex(pattern) else {
            throw .query("bad $regex value")
        }
        let effort = ParsePatternEffort(pattern)
        guard !effort.isUnbounded else {
            throw .query(
                "the simulator refuses a $regex that repeats a group with a repetition or an alternative in it"
            )
        }
        guard let text = value?.string else { return false }
        guard effort.allows(text.utf8.count) else {
            throw .query("the simulator refuses this $regex for a text of \(text.utf8.count) bytes: it may not end")
        }
        return text.firstMatch(of: options?.contains("i") == true ? regex.ignoresCase() : regex) != nil
    }

    /// Equality as Parse defines it: an absent field equals null, and an array equals each of its elements.
    private static func equals(_ value: JSONValue?, _ other: JSONValue) -> Bool {
        guard let value else { return other == .null }
        if let order = value.numericOrder(to: other) { return order == 0 }
        if let instant = instant(value), !instant.text.isEmpty, let other = self.instant(other) {
            return instant == other
        }
        if case .array(let elements) = value, other.array == nil { return elements.contains { equals($0, other) } }
        return value == other
    }

    /// Compares two numbers, strings or dates; `nil` for anything else.
    static func compare(_ value: JSONValue?, _ other: JSONValue?) -> Int? {
        guard let value, let other else { return nil }
        if let order = value.numericOrder(to: other) { return order }
        if let left = instant(value), let right = instant(other) { return left.order(to: right) }
        return nil
    }

    /// A string, or the string of a date, which sorts like the date.
    private static func instant(_ value: JSONValue) -> ExactText? {
        let text = value["__type"] == "Date" ? value["iso"] : value
        return text?.string.map { ExactText($0) }
    }

    /// A field's value; a dot leads into an object.
    static func value(of field: String, in object: JSONObject) -> JSONValue? {
        if let value = object[field] { return value }
        guard field.contains(".") else { return nil }
        var value: JSONValue? = .object(object)
        for name in field.split(ascii: ".") { value = value?[String(name)] }
        return value
    }
}
