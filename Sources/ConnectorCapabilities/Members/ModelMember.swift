// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A member of a capability's model, described for people who fill in a form or write a command line.
package struct ModelMember: Sendable, Hashable {
    /// The name in JSON.
    package let name: String
    /// The type of its value.
    package let kind: Kind
    /// Whether the model always needs it.
    package let isRequired: Bool
    /// The meaning of the member, in a few words.
    package let help: String
    /// An example value; empty if the kind needs no example.
    package let example: String
    /// The member that this one may replace; nil if none.
    package let alternative: String?

    /// The type of a member's value.
    package enum Kind: Sendable, Hashable {
        case text
        case number
        case boolean
        /// An object or an array.
        case json
        /// One of several words.
        case choice([String])

        /// Whether the value is text, which needs no quotes.
        package var isText: Bool {
            switch self {
            case .text, .choice: true
            case .number, .boolean, .json: false
            }
        }
    }

    init(
        _ name: String,
        _ help: String,
        _ kind: Kind = .text,
        isRequired: Bool = false,
        example: String = "",
        insteadOf alternative: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.help = help
        self.example = example
        self.alternative = alternative
    }
}
