// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How the children of a composite open, and how a call passes through them.
package enum CompositePolicy: Sendable, Hashable, CustomStringConvertible {
    /// Every child takes every call, and every required one must succeed; with a quorum, that many.
    case all(quorum: Int?)
    /// The first working child, in order, takes the call.
    case first
    /// One child after the other.
    case sequence
    /// Every child takes the call at once, and the first answer counts.
    case fastest
    /// The first child answers, and the others' answers are compared with it.
    case compare

    /// The names in the file.
    package static let names = ["all", "first", "sequence", "fastest", "compare"]

    /// The policy of a name without further settings; nil for an unknown one.
    package init?(name: String) {
        switch name {
        case "all": self = .all(quorum: nil)
        case "first": self = .first
        case "sequence": self = .sequence
        case "fastest": self = .fastest
        case "compare": self = .compare
        default: return nil
        }
    }

    /// Its name in the file.
    package var description: String {
        switch self {
        case .all: "all"
        case .first: "first"
        case .sequence: "sequence"
        case .fastest: "fastest"
        case .compare: "compare"
        }
    }

    /// Whether each child opens only after the one before it.
    package var opensInOrder: Bool { self == .sequence }

    /// Whether children are required unless they say otherwise: not where one can stand in for another.
    package var requiresChildren: Bool {
        switch self {
        case .all(quorum: nil), .sequence, .compare: true
        case .all, .first, .fastest: false
        }
    }

    /// Whether a child works, and whether the composite requires it.
    package typealias Child = (isWorking: Bool, isRequired: Bool)

    /// Whether enough children work: every required one, as many as the quorum demands, and at least one.
    ///
    /// This one rule decides the calls of `all`, the state of a composite, and readiness.
    package func isSatisfied(by children: [Child]) -> Bool {
        guard children.allSatisfy({ $0.isWorking || !$0.isRequired }) else { return false }
        return children.count(where: \.isWorking) >= fewest
    }

    /// The least number of children that must work.
    package var fewest: Int { max(1, quorum ?? 1) }

    /// The quorum of `all`, if it has one.
    package var quorum: Int? {
        if case .all(let quorum) = self { quorum } else { nil }
    }
}
