// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
public import ConnectorManifest

/// An action on the host as a value: its title, the question to confirm first, and the command line that does the same.
public struct ConsoleAct: Sendable, Hashable {
    /// What is done.
    public let verb: Verb
    /// What it is done to.
    public let subject: Subject
    /// What people read of it.
    public let title: String
    /// The question to ask first if something would be lost; nil if nothing would.
    public var question: String?
    /// The command line that does the same; nil if there is none.
    public var commandLine: String?

    /// Something that can be done to a host.
    public struct Verb: RawRepresentable, Sendable, Hashable {
        /// The word that people read.
        public let rawValue: String

        /// Creates a verb; a host knows only those below.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Tries a gate at once.
        public static let retry = Verb(rawValue: "retry")
        /// Opens a gate.
        public static let open = Verb(rawValue: "open")
        /// Closes a gate.
        public static let close = Verb(rawValue: "close")
        /// Puts dead letters back in the queue.
        public static let replay = Verb(rawValue: "replay")
        /// Drops dead letters for good.
        public static let drop = Verb(rawValue: "drop")
        /// Calls an operation, or sends an event.
        public static let call = Verb(rawValue: "call")
    }

    /// Something of a host that acts are done to.
    public struct Subject: Sendable, Hashable {
        /// The subject with what names it.
        package let kind: Kind

        package enum Kind: Sendable, Hashable {
            case gate(String)
            case letter(String, connector: String?)
            case letters
            case operation(String, of: String, JSONObject, isDelivered: Bool)
        }

        /// A connector and everything below it.
        public static func gate(_ path: String) -> Subject { Subject(kind: .gate(path)) }

        /// An event that a connector refused.
        ///
        /// - Parameter connector: The connector; nil for all that refused the event.
        public static func letter(_ id: String, connector: String?) -> Subject {
            Subject(kind: .letter(id, connector: connector))
        }

        /// Every dead letter.
        public static let letters = Subject(kind: .letters)

        /// An operation of a connector, with its arguments.
        ///
        /// - Parameter isDelivered: Whether the outbox stores and delivers it, instead of a call at once.
        public static func operation(
            _ name: String,
            of path: String,
            _ arguments: JSONObject,
            isDelivered: Bool
        ) -> Subject {
            Subject(kind: .operation(name, of: path, arguments, isDelivered: isDelivered))
        }
    }

    /// Creates an act.
    ///
    /// - Parameters:
    ///   - title: What people read of it, such as "retry geocoder/google".
    ///   - question: The question to ask first if something would be lost.
    ///   - commandLine: The command line that does the same.
    public init(
        _ verb: Verb,
        _ subject: Subject,
        title: String,
        question: String? = nil,
        commandLine: String? = nil
    ) {
        self.verb = verb
        self.subject = subject
        self.title = title
        self.question = question
        self.commandLine = commandLine
    }
}
