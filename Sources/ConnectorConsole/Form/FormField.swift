// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A field of a form: what is asked for, as a text that somebody writes.
public struct FormField: Sendable, Hashable, Identifiable {
    /// Unique in the form, and safe as a name in HTML: `query.limit`.
    public let name: String
    /// What stands beside it.
    public let label: String
    /// What it takes.
    public let kind: Kind
    /// Whether it must not be empty.
    public let isRequired: Bool
    /// What it means, in a few words.
    public let help: String
    /// What it could hold; empty where the kind says enough.
    public let example: String

    /// The name.
    public var id: String { name }

    /// Takes its parts.
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

    /// What a field takes.
    public struct Kind: Sendable, Hashable {
        /// The name, also as the class of a page's element.
        public let name: String
        /// The words to choose from; an empty field chooses none of them.
        public let choices: [String]

        /// A text, taken as it is.
        public static let text = Kind(name: "text", choices: [])
        /// A number, as JSON writes it.
        public static let number = Kind(name: "number", choices: [])
        /// True or false.
        public static let boolean = Kind(name: "boolean", choices: ["true", "false"])
        /// JSON, over several lines if need be.
        public static let json = Kind(name: "json", choices: [])
        /// One of some words.
        public static func choice(_ words: [String]) -> Kind { Kind(name: "choice", choices: words) }
    }
}

/// What is wrong with what a form holds.
public struct FormFault: Error, Sendable, Hashable {
    /// A sentence for each field that is wrong, by its name.
    public let errors: [String: String]

    /// Takes the sentences.
    package init(_ errors: [String: String]) { self.errors = errors }
}
