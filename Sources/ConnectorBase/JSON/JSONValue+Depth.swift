// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Whether more than some arrays and objects are nested in each other, this value included.
    ///
    /// Looks no deeper than the limit, so that no value is too deep for the stack.
    package func isNested(deeperThan limit: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .number, .string: false
        case .array(let elements): limit < 1 || elements.contains { $0.isNested(deeperThan: limit - 1) }
        case .object(let object): object.isNested(deeperThan: limit)
        }
    }
}

extension JSONObject {
    /// Whether more than some arrays and objects are nested in each other, this one included: see `JSONValue`.
    package func isNested(deeperThan limit: Int) -> Bool {
        limit < 1 || members.contains { $0.value.isNested(deeperThan: limit - 1) }
    }
}
