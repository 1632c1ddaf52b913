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

    /// Checks that everyone who gets the value can read it.
    ///
    /// - Parameters:
    ///   - limit: How many arrays and objects may be nested in each other, this value included.
    ///   - name: What the error calls the value.
    /// - Throws: A ``ConnectorError`` of code `invalid` for a value that is nested deeper.
    package func checkDepth(
        _ limit: Int = JSONParser.depthLimit,
        named name: String
    ) throws(ConnectorError) {
        guard isNested(deeperThan: limit) else { return }
        throw ConnectorError(.invalid, "\(name) is nested deeper than \(limit) levels")
    }
}

extension JSONObject {
    /// Whether more than some arrays and objects are nested in each other, this one included: see `JSONValue`.
    package func isNested(deeperThan limit: Int) -> Bool {
        limit < 1 || members.contains { $0.value.isNested(deeperThan: limit - 1) }
    }
}
