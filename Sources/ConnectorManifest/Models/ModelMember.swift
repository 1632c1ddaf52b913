// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A member of a capability's model, for people who fill it in: in a form, or on the command line.
package struct ModelMember: Sendable, Hashable {
    /// The name in JSON.
    package let name: String
    /// What it holds.
    package let kind: Kind
    /// Whether the model needs it whatever else is given.
    package let isRequired: Bool
    /// What it means, in a few words.
    package let help: String
    /// What it could be; empty where the kind says enough.
    package let example: String

    /// What a member holds.
    package enum Kind: Sendable, Hashable {
        case text
        case number
        case boolean
        /// An object or an array.
        case json
        /// One of some words.
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

    /// The members of what an operation's only parameter of `json` takes.
    ///
    /// - Returns: None for an operation without a model, such as one of a user's own capability.
    package static func members(of operation: String, in capability: CapabilityID) -> [ModelMember] {
        switch capability.description {
        case "analytics/1": AnalyticsEvent.Kind(rawValue: operation).map(AnalyticsEvent.members(of:)) ?? []
        case "crash/1": CrashReport.members(of: operation)
        case "database/1": operation == "query" ? DatabaseQuery.members : []
        case "geocoder/1":
            switch operation {
            case "geocode": GeocodeRequest.members
            case "reverse": ReverseRequest.members
            default: []
            }
        default: []
        }
    }
}
