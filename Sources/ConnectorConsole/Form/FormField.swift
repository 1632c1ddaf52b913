// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A field of a form, whose value is entered as text.
public struct FormField: Sendable, Hashable, Identifiable {
    /// Unique in the form, and safe as a name in HTML: `query.limit`.
    public let name: String
    /// The label beside it.
    public let label: String
    /// The kind of value that it accepts.
    public let kind: Kind
    /// Whether a value is required.
    public let isRequired: Bool
    /// A short explanation.
    public let help: String
    /// An example value; empty for none.
    public let example: String
    /// The initial text.
    public let value: String

    /// The name.
    public var id: String { name }

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - label: The label beside it; nil for the name.
    ///   - value: The initial text.
    public init(
        _ name: String,
        label: String? = nil,
        _ kind: Kind = .text,
        isRequired: Bool = false,
        help: String = "",
        example: String = "",
        value: String = ""
    ) {
        self.name = name
        self.label = label ?? name
        self.value = value
        self.kind = kind
        self.isRequired = isRequired
        self.help = help
        self.example = example
    }

    /// The error in an entered text; nil if it is valid.
    func problem(with text: String) -> String? {
        guard !text.isEmpty else { return isRequired ? "\(label) is missing" : nil }
        if !kind.choices.isEmpty, !kind.choices.contains(text) {
            return "\(label) must be one of \(kind.choices.joined(separator: ", "))"
        }
        guard kind == .json || kind == .number else { return nil }
        do throws(ConnectorError) {
            let value = try JSONValue(parsing: text)
            // A number too large for JSON is written as a string.
            guard kind == .number, value.number == nil, value.string == nil else { return nil }
            return "\(label) must be a number, not \(value.kind)"
        } catch {
            return kind == .number ? "\(label) must be a number, such as 12.5" : sentence(on: error)
        }
    }

    /// The sentence for an error in its text, with the position.
    func sentence(on error: ConnectorError) -> String {
        let position = error.position.map { " at line \($0.line), column \($0.column)" } ?? ""
        return "\(label): \(error.message)\(position)"
    }

    /// The kind of value that a field accepts.
    public struct Kind: Sendable, Hashable {
        /// The name, which is also the class of its element on a web page.
        public let name: String
        /// The choices; an empty value chooses none.
        public let choices: [String]

        /// Text, taken literally.
        public static let text = Kind(name: "text", choices: [])
        /// A number in JSON's notation.
        public static let number = Kind(name: "number", choices: [])
        /// True or false.
        public static let boolean = Kind(name: "boolean", choices: ["true", "false"])
        /// JSON, which may span several lines.
        public static let json = Kind(name: "json", choices: [])
        /// One of several words.
        public static func choice(_ words: [String]) -> Kind { Kind(name: "choice", choices: words) }
    }
}
