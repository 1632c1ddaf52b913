// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The types of Parse's columns.
enum ParseType {
    /// What a value would make of its column, as it is spelled in messages.
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

    /// Tells whether a class may have this name: the system's own, or a letter and then letters, digits and `_`.
    static func isClassName(_ name: String) -> Bool {
        let system = [
            "_User", "_Installation", "_Role", "_Session", "_Product", "_PushStatus", "_JobStatus", "_Audience",
        ]
        if system.contains(name) { return true }
        return name.isCIdentifier && name.utf8.first != UInt8(ascii: "_")
    }
}
