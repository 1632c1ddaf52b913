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
    /// The member that this one may replace, so that the model needs one of the two; nil if none.
    package let alternative: String?
    /// Whether the model refuses this member beside its alternative.
    package let excludesAlternative: Bool

    /// The type of a member's value.
    package indirect enum Kind: Sendable, Hashable {
        case text
        case number
        case boolean
        /// A string, a number, a boolean or null.
        case scalar
        /// One of several words.
        case choice([String])
        /// An object with these members, or with any if there are none. A closed one has at least one of them and no others.
        case object([ModelMember], isClosed: Bool = false)
        /// An object with any names, whose values have a kind.
        case map(Kind)
        /// An array of at least some values of a kind.
        case array(Kind, minimum: Int = 0)
        /// A value of one of several kinds.
        case either([Kind])

        /// Whether the value is text, which needs no quotes.
        package var isText: Bool {
            switch self {
            case .text, .choice: true
            default: false
            }
        }

        /// The members of the objects in the value, if it has any known ones, and the path that leads to those objects from the value.
        package var inner: (path: String, members: [ModelMember]) {
            switch self {
            case .text, .number, .boolean, .scalar, .choice: ("", [])
            case .object(let members, _): ("", members)
            case .map(let kind): (".NAME\(kind.inner.path)", kind.inner.members)
            case .array(let kind, _): ("[]\(kind.inner.path)", kind.inner.members)
            case .either(let kinds): kinds.map(\.inner).first { !$0.members.isEmpty } ?? ("", [])
            }
        }
    }

    init(
        _ name: String,
        _ help: String,
        _ kind: Kind = .text,
        isRequired: Bool = false,
        example: String = "",
        insteadOf replaced: String? = nil,
        besides alternative: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.help = help
        self.example = example
        self.alternative = replaced ?? alternative
        excludesAlternative = replaced != nil
    }
}
