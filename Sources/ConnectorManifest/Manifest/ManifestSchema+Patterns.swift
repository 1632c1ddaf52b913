// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The forms of texts, as regular expressions that every implementation of JSON Schema understands.
extension ManifestSchema {
    /// The names of plugins, uses, scenes and components: see ``isIdentifier(_:)``.
    static let identifierPattern = "[a-z0-9][a-z0-9._-]{0,63}"
    /// The name and version of a capability.
    static let capabilityPattern = "\(identifierPattern)/\(versionNumber)"
    /// A number of a version, apart from 0.
    private static let versionNumber = NumberPattern.upTo(UInt64(UInt32.max))
    /// The names that ``isOperationName(_:)`` accepts, in the notation that all implementations know: without classes of Unicode.
    static let operationPattern =
        "[^\\u0000-\\u0020/\\u007F-\\u00A0\\u00AD\\u061C\\u1680\\u180E"
        + "\\u2002-\\u200F\\u2028-\\u202F\\u205F-\\u2064\\u2066-\\u206F\\u3000\\uFEFF]{1,255}"
    /// A version: see ``SemanticVersion``.
    package static let versionPattern: String = {
        let (number, identifier) = ("(0|\(versionNumber))", "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)")
        return "^\(number)\\.\(number)\\.\(number)(-\(identifier)(\\.\(identifier))*)?$"
    }()
    /// A host, with `*.` before it and a port after it if need be, or a field in braces.
    static let egressPattern =
        "^(\\{[A-Za-z0-9_.-]{1,64}\\}|(\\*\\.)?([A-Za-z0-9._-]+|\\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\\])"
        + "(:0*\(NumberPattern.upTo(UInt64(UInt16.max))))?)$"
    /// An integer of 64 bits.
    static let integerPattern = "(-0*9223372036854775808|[+-]?0*(0|\(NumberPattern.upTo(UInt64(Int64.max)))))"
    /// A duration from a second to an hour.
    static let intervalPattern: String = {
        let milliseconds = "([1-9][0-9]{3,5}|[12][0-9]{6}|3[0-5][0-9]{5}|3600000)ms"
        let seconds = "([1-9][0-9]{0,2}|[12][0-9]{3}|3[0-5][0-9]{2}|3600)s"
        return "^0*(\(milliseconds)|\(seconds)|([1-9]|[1-5][0-9]|60)m|1h)$"
    }()
    /// Names of members separated by dots.
    static let membersPattern = "^[^.]+(\\.[^.]+){0,\(ManifestScene.partLimit - 1)}$"
}

extension ConfigurationField.FieldType {
    /// The values of the type, as a JSON Schema.
    package var schema: JSONObject {
        switch self {
        case .string: ["type": "string"]
        case .path: ["type": "string", "minLength": 1]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .url: ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]"]
        case .duration: ["type": "string", "pattern": .string(Self.durationPattern)]
        case .json: [:]
        }
    }

    /// A duration as `Duration(parsing:)` reads it.
    private static let durationPattern = "^(\(NumberPattern.noTime)|\(NumberPattern.durations(upTo: .longest)))$"
}
