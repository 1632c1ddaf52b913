// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How a composite opens its children and routes calls to them.
package enum CompositePolicy: Sendable, Hashable, CustomStringConvertible {
    /// Every child receives every call. Every required child must succeed; with a quorum, at least that many must.
    case all(quorum: Int?)
    /// The first working child, in order, receives the call.
    case first
    /// The children receive the call one after another.
    case sequence
    /// Every child receives the call concurrently, and the first answer wins.
    case fastest
    /// The first child answers, and the answers of the others are compared with it.
    case compare
    /// The first child receives the calls, except for a share that the second one receives.
    case canary(CanaryPolicy)
    /// The first child receives the calls, and the others copies of those that have no effect.
    case shadow

    /// The names in the file.
    package static let names = ["all", "first", "sequence", "fastest", "compare", "canary", "shadow"]

    /// The policy of a name, with default settings; nil if the name is unknown.
    package init?(name: String) {
        switch name {
        case "all": self = .all(quorum: nil)
        case "first": self = .first
        case "sequence": self = .sequence
        case "fastest": self = .fastest
        case "compare": self = .compare
        case "canary": self = .canary(CanaryPolicy())
        case "shadow": self = .shadow
        default: return nil
        }
    }

    /// The policy's name in the file.
    package var description: String {
        switch self {
        case .all: "all"
        case .first: "first"
        case .sequence: "sequence"
        case .fastest: "fastest"
        case .compare: "compare"
        case .canary: "canary"
        case .shadow: "shadow"
        }
    }

    /// Whether each child waits for the previous one before it opens.
    package var opensInOrder: Bool { self == .sequence }

    /// Whether children are required by default: they are not where one can substitute for another.
    package var requiresChildren: Bool {
        switch self {
        case .all(quorum: nil), .sequence, .compare: true
        case .all, .first, .fastest, .canary, .shadow: false
        }
    }

    /// Whether the first child is the one in use, which is required by default.
    package var firstIsRequired: Bool {
        switch self {
        case .canary, .shadow: true
        case .all, .first, .sequence, .fastest, .compare: false
        }
    }

    /// Whether the answers of children are compared with those of the first.
    package var comparesAnswers: Bool { self == .compare || self == .shadow }

    /// Whether a child works, and whether the composite requires it.
    package typealias Child = (isWorking: Bool, isRequired: Bool)

    /// Whether enough children work: every required child, at least as many as the quorum, and at least one.
    ///
    /// The calls of `all`, a composite's state and readiness all follow this rule.
    package func isSatisfied(by children: [Child]) -> Bool {
        guard children.allSatisfy({ $0.isWorking || !$0.isRequired }) else { return false }
        return children.count(where: \.isWorking) >= fewest
    }

    /// The minimum number of working children.
    package var fewest: Int { max(1, quorum ?? 1) }

    /// How a canary divides calls; nil for another policy.
    package var canary: CanaryPolicy? {
        if case .canary(let canary) = self { canary } else { nil }
    }

    /// The quorum of `all`; nil without one.
    package var quorum: Int? {
        if case .all(let quorum) = self { quorum } else { nil }
    }
}
