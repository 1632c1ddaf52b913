// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Reads the JSON of a model, and names the member that does not fit.
package struct ModelReader {
    /// The members.
    package let object: JSONObject
    /// The path of the object in messages: `event`, `report.exceptions[0]`.
    package let path: String

    /// Creates a reader of an object.
    package init(_ value: JSONValue, _ path: String) throws(ConnectorError) {
        guard case .object(let object) = value else {
            throw ConnectorError(.invalid, "\(path) must be an object, not \(value.kind)")
        }
        self.object = object
        self.path = path
    }

    /// Throws for an unknown member, because ignoring a misspelled member of a request would change its meaning.
    package func checkNames(_ known: [String]) throws(ConnectorError) {
        for name in object.names where !known.contains(name) {
            let fix = suggestion(for: name, among: known)
            throw ConnectorError(.invalid, "\(path) has no member \"\(name)\"", fix: fix)
        }
    }

    /// Reads a string; nil if absent or null.
    package func string(_ name: String) throws(ConnectorError) -> String? {
        try value(name, "a string") { $0.string }
    }

    /// Reads a required string that is not empty.
    package func requiredString(_ name: String) throws(ConnectorError) -> String {
        guard let text = try string(name), !text.isEmpty else {
            throw ConnectorError(.invalid, "\(path).\(name) is missing; it must be a string that is not empty")
        }
        return text
    }

    /// Reads a whole number within bounds; nil if absent or null.
    package func integer(_ name: String, within range: ClosedRange<Int>) throws(ConnectorError) -> Int? {
        try value(name, "an integer from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reads a number within bounds; nil if absent or null.
    package func number(_ name: String, within range: ClosedRange<Double>) throws(ConnectorError) -> Double? {
        try value(name, "a number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.number.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reads a required number within bounds.
    package func requiredNumber(_ name: String, within range: ClosedRange<Double>) throws(ConnectorError) -> Double {
        guard let number = try number(name, within: range) else {
            throw ConnectorError(.invalid, "\(path).\(name) is missing; it must be a number")
        }
        return number
    }

    /// Reads a boolean; nil if absent or null.
    package func bool(_ name: String) throws(ConnectorError) -> Bool? {
        try value(name, "true or false") { $0.bool }
    }

    /// Reads an object; empty if absent or null.
    package func object(_ name: String) throws(ConnectorError) -> JSONObject {
        try value(name, "an object") { $0.object } ?? JSONObject()
    }

    /// Reads an array; empty if absent or null.
    package func array(_ name: String) throws(ConnectorError) -> [JSONValue] {
        try value(name, "an array") { $0.array } ?? []
    }

    /// Reads an array of strings; empty if absent or null.
    package func strings(_ name: String) throws(ConnectorError) -> [String] {
        try value(name, "an array of strings") { value in
            let texts = value.array?.compactMap(\.string)
            return texts?.count == value.array?.count ? texts : nil
        } ?? []
    }

    /// Reads a time in RFC 3339; nil if absent or null.
    package func timestamp(_ name: String) throws(ConnectorError) -> Timestamp? {
        try value(name, "a time from 1970 to 2500, such as 2026-01-31T09:30:00Z") {
            $0.string.flatMap(Timestamp.init(parsing:))
        }
    }

    /// Reads one of several words; nil if absent or null.
    package func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        as type: Word.Type
    ) throws(ConnectorError) -> Word? where Word.RawValue == String {
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(name, "one of \(known)") { $0.string.flatMap(Word.init(rawValue:)) }
    }

    /// Reads an array of models; empty if absent or null.
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

    /// Reads a member of any type; nil if absent or null.
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
