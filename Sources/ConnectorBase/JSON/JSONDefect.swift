// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why a value written as JSON would not be read as the same value.
package enum JSONDefect: Sendable, Hashable {
    /// More arrays and objects are nested in each other than a limit allows.
    case nesting
    /// A number that JSON cannot write: an infinity, or not a number.
    case number(Double)
}

extension JSONValue {
    /// The first defect of the value; nil if everyone who gets its text reads the same value.
    ///
    /// Looks no deeper than the limit, so that no value is too deep for the stack.
    ///
    /// - Parameter limit: How many arrays and objects may be nested in each other, this value included.
    package func defect(limit: Int = JSONParser.depthLimit) -> JSONDefect? {
        switch self {
        case .null, .bool, .integer, .string: return nil
        case .number(let number): return number.isFinite ? nil : .number(number)
        case .array(let elements):
            guard limit > 0 else { return .nesting }
            for element in elements {
                if let defect = element.defect(limit: limit - 1) { return defect }
            }
            return nil
        case .object(let object): return object.defect(limit: limit)
        }
    }

    /// Whether more arrays and objects are nested in each other than a limit allows, this value included. Looks no deeper than that.
    package func isNested(deeperThan limit: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .number, .string: false
        case .array(let elements): limit <= 0 || elements.contains { $0.isNested(deeperThan: limit - 1) }
        case .object(let object):
            limit <= 0 || object.members.contains { $0.value.isNested(deeperThan: limit - 1) }
        }
    }

    /// Checks that everyone who gets the value can read it.
    ///
    /// - Parameters:
    ///   - limit: How many arrays and objects may be nested in each other, this value included.
    ///   - name: What the error calls the value; made only for an error.
    /// - Throws: A ``ConnectorError`` of code `invalid` for a value that is nested deeper, or has a number that is not finite.
    package func checkReadable(
        _ limit: Int = JSONParser.depthLimit,
        named name: @autoclosure () -> String
    ) throws(ConnectorError) {
        switch defect(limit: limit) {
        case .nesting: throw ConnectorError(.invalid, "\(name()) is nested deeper than \(limit) levels")
        case .number(let number):
            throw ConnectorError(.invalid, "\(name()) has the number \(number), which JSON cannot write")
        case nil: break
        }
    }
}

extension JSONObject {
    /// The first defect of the object: see `JSONValue`.
    package func defect(limit: Int = JSONParser.depthLimit) -> JSONDefect? {
        guard limit > 0 else { return .nesting }
        for member in members {
            if let defect = member.value.defect(limit: limit - 1) { return defect }
        }
        return nil
    }
}
