// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How the children of a composite open, and how a call passes through them.
package enum CompositePolicy: Sendable, Hashable, CustomStringConvertible {
    /// Every child takes every call; with a quorum, that many must succeed.
    case all(quorum: Int?)
    /// The first child that works takes the call, in order.
    case first
    /// One child after the other.
    case sequence
    /// All at once, and the first answer counts.
    case fastest
    /// The first child answers, and the others' answers are compared with its own.
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

    /// Whether each child waits for the one before it to have opened.
    package var opensInOrder: Bool { self == .sequence }
}
