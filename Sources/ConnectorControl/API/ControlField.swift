// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// A value that an endpoint takes: in its path, in its query, or in the object that is its body.
///
/// The one definition checks a request and describes itself as a JSON Schema.
package struct ControlField: Sendable {
    /// The name.
    package let name: String
    /// What it holds.
    package let kind: Kind
    /// Whether a request without it is refused.
    package let isRequired: Bool
    /// What it means, in one sentence.
    package let meaning: String

    /// What a value holds.
    package enum Kind: Sendable {
        /// A text, which is not empty.
        case text
        /// The place of a dead letter, as an answer names it.
        case place
        /// True or false.
        case flag
        /// True: that it is there says all.
        case yes
        /// A whole number.
        case integer(ClosedRange<Int64>)
        /// Texts that are not empty: at least one.
        case texts
        /// Arguments by name, or as the words of a command line.
        case arguments
    }

    /// Describes an optional field, unless it is required.
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
        case .place: ["type": "string", "pattern": .string(OutboxDocument.placePattern)]
        case .flag: ["type": "boolean"]
        case .yes: ["const": true]
        case .integer(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .texts: ["type": "array", "items": text, "minItems": 1]
        case .arguments:
            ["anyOf": [["type": "object"], ["type": "array", "items": ["type": "string"]]]]
        }
    }

    /// What a value must be, if it is not; nil if it is right.
    func problem(of value: JSONValue) -> String? {
        switch kind {
        case .text: value.string.map { !$0.isEmpty } ?? false ? nil : "a text that is not empty"
        case .place:
            value.string.flatMap(RecordCursor.init) != nil ? nil : "what \"next\" is in an answer"
        case .flag: value.bool != nil ? nil : "true or false"
        case .yes: value == true ? nil : "true"
        case .integer(let range):
            value.integer.map(range.contains) ?? false
                ? nil : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .texts:
            value.array.map { !$0.isEmpty && $0.allSatisfy { $0.string?.isEmpty == false } } ?? false
                ? nil : "an array of texts, of which none is empty"
        case .arguments:
            value.object != nil || value.array.map { $0.allSatisfy { $0.string != nil } } ?? false
                ? nil : "an object, or an array of texts"
        }
    }

    /// The value of a text in a path or a query, as it is checked next.
    func value(_ text: String) -> JSONValue {
        switch kind {
        case .text, .place, .texts, .arguments: .string(text)
        case .flag, .yes: text == "true" ? true : text == "false" ? false : .string(text)
        // Digits alone: neither "1e2" nor " 1" is how a query writes a number.
        case .integer:
            text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
                ? Int64(text).map(JSONValue.integer) ?? .string(text) : .string(text)
        }
    }
}
