// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A member of a capability's model, for people who fill it in, in a form or on the command line.
package struct ModelMember: Sendable, Hashable {
    /// The name in JSON.
    package let name: String
    /// What it holds.
    package let kind: Kind
    /// Whether the model always needs it.
    package let isRequired: Bool
    /// Its meaning, in a few words.
    package let help: String
    /// An example value; empty where the kind says enough.
    package let example: String

    /// What a member holds.
    package enum Kind: Sendable, Hashable {
        case text
        case number
        case boolean
        /// An object or an array.
        case json
        /// One of several words.
        case choice([String])

        /// Whether it is a text, which needs no quotes.
        package var isText: Bool {
            switch self {
            case .text, .choice: true
            case .number, .boolean, .json: false
            }
        }
    }

    init(_ name: String, _ help: String, _ kind: Kind = .text, isRequired: Bool = false, example: String = "") {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.help = help
        self.example = example
    }
}
