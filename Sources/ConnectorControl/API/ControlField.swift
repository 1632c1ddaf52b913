// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// A field of an endpoint: in its path, in its query, or in the object of its body.
///
/// A single definition validates the value and describes it as a JSON Schema.
package struct ControlField: Sendable {
    /// The name.
    package let name: String
    /// The kind of value.
    package let kind: Kind
    /// Whether every request must contain it.
    package let isRequired: Bool
    /// The meaning, in one sentence.
    package let meaning: String

    /// A kind of value.
    package enum Kind: Sendable {
        /// A nonempty text.
        case text
        /// A cursor in the list of dead letters, from an earlier response.
        case cursor
        /// True or false.
        case flag
        /// Only true; leave the field out for false.
        case yes
        /// A whole number in a range.
        case integer(ClosedRange<Int64>)
        /// An array of one or more nonempty texts.
        case texts
        /// Arguments by name, or as the words of a command line.
        case arguments
        /// An object.
        case object
    }

    /// Creates a field.
    init(_ name: String, _ kind: Kind, isRequired: Bool = false, _ meaning: String) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.meaning = meaning
    }

    /// The JSON Schema of the value.
    var schema: JSONValue {
        let text: JSONValue = ["type": "string", "minLength": 1]
        return switch kind {
        case .text: text
        case .cursor: ["type": "string", "pattern": .string(OutboxDocument.cursorPattern)]
        case .flag: ["type": "boolean"]
        case .yes: ["const": true]
        case .integer(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .texts: ["type": "array", "items": text, "minItems": 1]
        case .object: ["type": "object"]
        case .arguments:
            ["anyOf": [["type": "object"], ["type": "array", "items": ["type": "string"]]]]
        }
    }

    /// Describes what a valid value is; nil if the value is valid.
    func problem(of value: JSONValue) -> String? {
        switch kind {
        case .text: value.string.map { !$0.isEmpty } ?? false ? nil : "a nonempty text"
        case .cursor:
            value.string.flatMap(RecordCursor.init) != nil ? nil : "the \"next\" of an answer"
        case .flag: value.bool != nil ? nil : "true or false"
        case .yes: value == true ? nil : "true"
        case .integer(let range):
            value.integer.map(range.contains) ?? false
                ? nil : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .texts:
            value.array.map { !$0.isEmpty && $0.allSatisfy { $0.string?.isEmpty == false } } ?? false
                ? nil : "an array of nonempty texts"
        case .object: value.object != nil ? nil : "an object"
        case .arguments:
            value.object != nil || value.array.map { $0.allSatisfy { $0.string != nil } } ?? false
                ? nil : "an object, or an array of texts"
        }
    }

    /// Converts a text from a path or a query to the value to validate.
    func value(_ text: String) -> JSONValue {
        switch kind {
        case .text, .cursor, .texts, .arguments, .object: .string(text)
        case .flag, .yes: text == "true" ? true : text == "false" ? false : .string(text)
        // Only digits and a minus sign; "1e2" and " 1" are invalid in a query.
        case .integer:
            text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
                ? Int64(text).map(JSONValue.integer) ?? .string(text) : .string(text)
        }
    }
}
