// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Takes the JSON of a model apart, and says which member of which model does not fit.
package struct ModelReader {
    /// The members.
    package let object: JSONObject
    /// What they are, for messages: `event`, `report.exceptions[0]`.
    package let path: String

    /// Starts with a value that must be an object.
    package init(_ value: JSONValue, _ path: String) throws(ConnectorError) {
        guard case .object(let object) = value else {
            throw ConnectorError(.invalid, "\(path) must be an object, not \(value.kind)")
        }
        self.object = object
        self.path = path
    }

    /// Objects to members that mean nothing: for questions, where one that is overlooked would change the answer.
    package func checkNames(_ known: [String]) throws(ConnectorError) {
        for name in object.names where !known.contains(name) {
            let fix = suggestion(for: name, among: known)
            throw ConnectorError(.invalid, "\(path) has no member \"\(name)\"", fix: fix)
        }
    }

    /// A text; nil if absent or null.
    package func string(_ name: String) throws(ConnectorError) -> String? {
        try value(name, "a string") { $0.string }
    }

    /// A text that is not empty.
    package func requiredString(_ name: String) throws(ConnectorError) -> String {
        guard let text = try string(name), !text.isEmpty else {
            throw ConnectorError(.invalid, "\(path).\(name) is missing; it must be a string that is not empty")
        }
        return text
    }

    /// A whole number within bounds; nil if absent or null.
    package func integer(_ name: String, within range: ClosedRange<Int>) throws(ConnectorError) -> Int? {
        try value(name, "an integer from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number within bounds; nil if absent or null.
    package func number(_ name: String, within range: ClosedRange<Double>) throws(ConnectorError) -> Double? {
        try value(name, "a number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.number.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number within bounds that must be there.
    package func requiredNumber(_ name: String, within range: ClosedRange<Double>) throws(ConnectorError) -> Double {
        guard let number = try number(name, within: range) else {
            throw ConnectorError(.invalid, "\(path).\(name) is missing; it must be a number")
        }
        return number
    }

    /// A truth value; nil if absent or null.
    package func bool(_ name: String) throws(ConnectorError) -> Bool? {
        try value(name, "true or false") { $0.bool }
    }

    /// Members; empty if absent or null.
    package func object(_ name: String) throws(ConnectorError) -> JSONObject {
        try value(name, "an object") { $0.object } ?? JSONObject()
    }

    /// Elements; empty if absent or null.
    package func array(_ name: String) throws(ConnectorError) -> [JSONValue] {
        try value(name, "an array") { $0.array } ?? []
    }

    /// Texts; empty if absent or null.
    package func strings(_ name: String) throws(ConnectorError) -> [String] {
        try value(name, "an array of strings") { value in
            let texts = value.array?.compactMap(\.string)
            return texts?.count == value.array?.count ? texts : nil
        } ?? []
    }

    /// A moment in RFC 3339; nil if absent or null.
    package func timestamp(_ name: String) throws(ConnectorError) -> Timestamp? {
        try value(name, "a time such as 2026-01-31T09:30:00Z") { $0.string.flatMap(Timestamp.init(parsing:)) }
    }

    /// One of several words; nil if absent or null.
    package func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        as type: Word.Type
    ) throws(ConnectorError) -> Word? where Word.RawValue == String {
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(name, "one of \(known)") { $0.string.flatMap(Word.init(rawValue:)) }
    }

    /// Models in an array; empty if absent or null.
    package func models<Model>(
        _ name: String,
        _ read: (JSONValue, String) throws(ConnectorError) -> Model
    ) throws(ConnectorError) -> [Model] {
        var models: [Model] = []
        for (index, element) in try array(name).enumerated() {
            models.append(try read(element, "\(path).\(name)[\(index)]"))
        }
        return models
    }

    /// A member of some type; nil if absent or null.
    package func value<Value>(
        _ name: String,
        _ kind: String,
        _ convert: (JSONValue) -> Value?
    ) throws(ConnectorError) -> Value? {
        guard let found = object[name], found != .null else { return nil }
        guard let value = convert(found) else {
            var text = found.serialized()
            if text.utf8.count > 60 { text = found.kind }
            throw ConnectorError(.invalid, "\(path).\(name) must be \(kind), not \(text)")
        }
        return value
    }
}
