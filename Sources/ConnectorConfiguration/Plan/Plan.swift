// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a running host would change to take up another configuration: a value, made without changing anything.
///
/// `connector-host plan` prints it, and `connector-host apply` does what it says, or refuses if anything has moved since.
public struct Plan: Sendable, Hashable {
    /// The version of the format of ``json``.
    public static let version: Int64 = 1

    /// The digest of the configuration that runs.
    public internal(set) var running: String
    /// The digest of the configuration that the plan leads to.
    public internal(set) var target: String
    /// The connectors that change, in the order of the new file; those that are removed come last.
    public internal(set) var changes: [Change] = []
    /// The paths of the connectors that keep everything: state, instance and connections.
    public internal(set) var kept: [String] = []
    /// The settings of the file as a whole that change.
    public internal(set) var settings: [Field] = []
    /// The settings of the file as a whole that only a restart changes, such as `state`. While there are any, the plan cannot be applied.
    public internal(set) var restarts: [String] = []
    /// What the plan was made from; nil if it was not asked for.
    public package(set) var basis: Basis?

    /// Whether there is nothing to do.
    public var isEmpty: Bool { changes.isEmpty && settings.isEmpty && restarts.isEmpty }

    /// The change of a connector, by its new path, or its old one if it is removed; nil if it is kept.
    public subscript(path: String) -> Change? { changes.first { $0.path == path } }
}

extension Plan: CustomStringConvertible {
    /// One line without values, such as `shop/crm changed; shop/mail removed; 7 kept`. `connector-host plan` says more.
    public var description: String {
        var parts = changes.prefix(8).map { change in
            "\(change.path) \(change.kind.rawValue)" + (change.was.map { " from \($0)" } ?? "")
        }
        if changes.count > parts.count { parts.append("\(changes.count - parts.count) more changed") }
        if !settings.isEmpty { parts.append("the file's \(settings.map(\.name).joined(separator: ", ")) changed") }
        if !restarts.isEmpty { parts.append("a restart needed for \(restarts.joined(separator: ", "))") }
        if isEmpty { parts.append("nothing changes") }
        return (parts + ["\(kept.count) kept"]).joined(separator: "; ")
    }
}

extension Plan {
    /// What becomes of one connector.
    public struct Change: Sendable, Hashable {
        /// The path; the old one of a connector that is removed.
        public internal(set) var path: String
        /// What happens to it.
        public internal(set) var kind: Kind
        /// Whether it is a leaf.
        public internal(set) var isLeaf: Bool
        /// The path that a moved connector had.
        public internal(set) var was: String?
        /// The settings that differ; none for a connector that is added or removed.
        public internal(set) var fields: [Field] = []
        /// What the change costs.
        public internal(set) var cost: Cost = .nothing
        /// What becomes of the events that wait for the connector; nil if none do.
        public internal(set) var events: Events?
        /// What the connector could not reach or offer before.
        public internal(set) var wants = Wants()
        /// The image that is loaded in addition to those that stay in memory; nil if none is.
        public internal(set) var image: Image?
    }

    /// What happens to a connector.
    public struct Kind: Sendable, Hashable, RawRepresentable {
        /// The word in the document.
        public let rawValue: String

        /// Reads the word in the document.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The connector is new.
        public static let added = Self(rawValue: "added")
        /// The connector is no longer in the file, or no longer enabled.
        public static let removed = Self(rawValue: "removed")
        /// The connector has another path, and keeps its events: the file says so with `was`.
        public static let moved = Self(rawValue: "moved")
        /// The connector has other settings.
        public static let changed = Self(rawValue: "changed")
    }

    /// What a change costs.
    public struct Cost: Sendable, Hashable, RawRepresentable {
        /// The word in the document.
        public let rawValue: String

        /// Reads the word in the document.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Nothing is opened or closed.
        public static let nothing = Self(rawValue: "nothing")
        /// A gate opens that was not there before.
        public static let opens = Self(rawValue: "opens")
        /// A successor opens beside the instance that runs, and takes its place once it has given evidence.
        public static let opensBeside = Self(rawValue: "opens-beside")
        /// The instance closes before its successor opens, because its manifest says `exclusive`; calls fail meanwhile.
        public static let stopsFirst = Self(rawValue: "stops-first")
        /// The gate closes after its last calls.
        public static let closes = Self(rawValue: "closes")
    }

    /// A setting that differs. The values of secrets are shown as fingerprints, whose key only the host has.
    public struct Field: Sendable, Hashable {
        /// The key in the file; `config.NAME` for a field of the plugin, `image` for the bytes of the plugin, and of libraries beside it.
        public internal(set) var name: String
        /// The value that runs; nil if there is none.
        public internal(set) var from: String?
        /// The new value; nil if there is none.
        public internal(set) var to: String?
    }

    /// The events that wait for a connector.
    public struct Events: Sendable, Hashable {
        /// How many wait.
        public internal(set) var queued: Int
        /// What becomes of them.
        public internal(set) var outcome: Outcome

        /// What becomes of waiting events.
        public struct Outcome: Sendable, Hashable, RawRepresentable {
            /// The word in the document.
            public let rawValue: String

            /// Reads the word in the document.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// They stay in the queue, and are delivered by the new settings.
            public static let stay = Self(rawValue: "stay")
            /// They move to the connector's new path.
            public static let move = Self(rawValue: "move")
            /// They become dead letters, which can be replayed to another connector.
            public static let die = Self(rawValue: "dead-letters")
        }
    }

    /// What a connector newly wants.
    public struct Wants: Sendable, Hashable {
        /// The hosts that it may reach.
        public internal(set) var hosts: [String] = []
        /// The host services that it uses.
        public internal(set) var services: [String] = []
        /// The capabilities that it offers.
        public internal(set) var capabilities: [String] = []

        /// Whether it wants nothing new.
        public var isEmpty: Bool { hosts.isEmpty && services.isEmpty && capabilities.isEmpty }
    }

    /// An image that is loaded, and stays in memory until the process ends.
    public struct Image: Sendable, Hashable {
        /// The file.
        public internal(set) var path: String
        /// The size of the file, in bytes: about what the image takes in memory.
        public internal(set) var size: Int
        /// The bytes of static TLS that it takes; 0 for most images.
        public internal(set) var staticTLS: Int
        /// The bytes of static TLS that are left after it; nil if it takes none.
        public internal(set) var staticTLSLeft: Int?
    }
}
