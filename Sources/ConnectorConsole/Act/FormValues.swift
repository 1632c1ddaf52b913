// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The texts entered into a form, by field. Required fields, numbers, JSON and choices have been validated.
public struct FormValues: Sendable, Hashable {
    /// The nonempty texts, by field.
    public let texts: [String: String]

    /// No values, as for a button.
    public static let none = FormValues([:])

    /// Creates values from texts, ignoring empty ones.
    public init(_ texts: [String: String]) { self.texts = texts.filter { !$0.value.isEmpty } }

    /// The text of a field; empty for none.
    public subscript(name: String) -> String { texts[name] ?? "" }

    /// The number in a field; nil if there is none.
    public func number(_ name: String) -> Double? { json(name)?.number }

    /// The whole number in a field; nil if there is none.
    public func integer(_ name: String) -> Int64? { json(name)?.integer }

    /// Whether a field says `true`.
    public func isTrue(_ name: String) -> Bool { texts[name] == "true" }

    /// The JSON in a field; nil if there is none.
    public func json(_ name: String) -> JSONValue? { texts[name].flatMap { try? JSONValue(parsing: $0) } }
}
