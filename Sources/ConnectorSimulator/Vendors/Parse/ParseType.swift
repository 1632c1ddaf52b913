// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

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

    /// Letters, digits and the underscore.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Tells whether a class may have this name: the system's own, or a letter and then letters, digits and `_`.
    static func isClassName(_ name: String) -> Bool {
        let system = [
            "_User", "_Installation", "_Role", "_Session", "_Product", "_PushStatus", "_JobStatus", "_Audience",
        ]
        if system.contains(name) { return true }
        guard let first = name.utf8.first, first != UInt8(ascii: "_"), !(0x30...0x39).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { isWord($0) }
    }
}
