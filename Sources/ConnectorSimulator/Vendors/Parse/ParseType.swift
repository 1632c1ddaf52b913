// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The types of Parse's columns.
enum ParseType {
    /// The column type of a value, as messages spell it.
    static func name(of value: JSONValue) -> String {
        switch value {
        case .null: return "Object"
        case .bool: return "Boolean"
        case .integer, .number: return "Number"
        case .string: return "String"
        case .array: return "Array"
        case .object(let object):
            switch object["__type"]?.string {
            case "Pointer": return "Pointer<\(object["className"]?.string ?? "")>"
            case "Relation": return "Relation<\(object["className"]?.string ?? "")>"
            case let type?: return type
            case nil: return "Object"
            }
        }
    }

    /// Whether a class name is valid: a system class, or a letter followed by letters, digits and `_`.
    static func isClassName(_ name: String) -> Bool {
        let system = [
            "_User", "_Installation", "_Role", "_Session", "_Product", "_PushStatus", "_JobStatus", "_Audience",
        ]
        if system.contains(name) { return true }
        return name.isCIdentifier && name.utf8.first != UInt8(ascii: "_")
    }
}
