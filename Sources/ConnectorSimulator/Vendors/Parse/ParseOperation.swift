// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A written field: a value, or an operation on the current value (`{"__op": …}`).
struct ParseOperation {
    /// The field as written.
    private let value: JSONValue
    /// The operation's name; `nil` for a plain value.
    private let name: String?

    /// Creates an operation from the value of one field.
    init(_ value: JSONValue) {
        self.value = value
        name = value["__op"]?.string
    }

    /// Whether the answer includes the result, which the client cannot know.
    var answersResult: Bool {
        name != nil && name != "Delete"
    }

    /// The new value; `nil` removes the field.
    func applied(to old: JSONValue?) throws(ParseFailure) -> JSONValue? {
        switch name {
        case nil: return value
        case "Delete": return nil
        case "SetOnInsert": return old ?? value["amount"] ?? .null
        case "Increment": return try increment(old)
        case "Add": return .array(try elements(old) + objects())
        case "AddUnique":
            var elements = try elements(old)
            for object in try objects() where !elements.contains(object) { elements.append(object) }
            return .array(elements)
        case "Remove":
            let removed = try objects()
            return .array(try elements(old).filter { !removed.contains($0) })
        case "AddRelation", "RemoveRelation":
            let target = try objects().first?["className"] ?? ""
            return ["__type": "Relation", "className": target]
        case let name?:
            throw ParseFailure(code: 108, message: "The \(name) operator is not supported yet.")
        }
    }

    /// Adds the amount; the sum of integers is an integer unless it exceeds 64 bits.
    private func increment(_ old: JSONValue?) throws(ParseFailure) -> JSONValue {
        guard let amount = value["amount"], amount.number != nil else {
            throw .json("incrementing must provide a number")
        }
        guard let old, old != .null else { return amount }
        guard let number = old.number else { throw .json("can only increment a number") }
        if case .integer(let one) = old, case .integer(let other) = amount {
            let (sum, overflows) = one.addingReportingOverflow(other)
            if !overflows { return .integer(sum) }
        }
        let sum = number + (amount.number ?? 0)
        return sum.isFinite ? .number(sum) : .null
    }

    /// The current array; an absent field counts as empty.
    private func elements(_ old: JSONValue?) throws(ParseFailure) -> [JSONValue] {
        guard let old, old != .null else { return [] }
        guard let elements = old.array else { throw .json("This operation can only be applied to an array") }
        return elements
    }

    /// The array in the operation.
    private func objects() throws(ParseFailure) -> [JSONValue] {
        guard let objects = value["objects"]?.array else { throw .json("objects to add must be an array") }
        return objects
    }
}
