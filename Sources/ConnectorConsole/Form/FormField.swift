// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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

    /// The name.
    public var id: String { name }

    /// Creates a field.
    package init(
        _ name: String,
        label: String,
        _ kind: Kind,
        isRequired: Bool,
        help: String = "",
        example: String = ""
    ) {
        self.name = name
        self.label = label
        self.kind = kind
        self.isRequired = isRequired
        self.help = help
        self.example = example
    }

    /// The kind of value that a field accepts.
    public struct Kind: Sendable, Hashable {
        /// The name, also as the class of a page's element.
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

/// The errors in a form's values.
public struct FormFault: Error, Sendable, Hashable {
    /// The message for each invalid field, by the field's name.
    public let errors: [String: String]

    /// Creates an error from messages by field name.
    package init(_ errors: [String: String]) { self.errors = errors }
}
