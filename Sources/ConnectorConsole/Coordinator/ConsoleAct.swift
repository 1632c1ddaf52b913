// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
public import ConnectorManifest

/// An action on the host, as a value: its title, the question to confirm it, and the equivalent command line.
public struct ConsoleAct: Sendable, Hashable {
    /// The kind of action.
    public let verb: Verb
    /// The target of the action.
    public let subject: Subject
    /// The title shown to the operator.
    public let title: String
    /// The question that confirms an action that loses data; nil if it loses nothing.
    public var question: String?
    /// The equivalent command line; nil if there is none.
    public var commandLine: String?

    /// A kind of action on a host.
    public struct Verb: RawRepresentable, Sendable, Hashable {
        /// The word shown to the operator.
        public let rawValue: String

        /// Creates a verb; a host knows only those below.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Tries to open a gate again without waiting for its backoff.
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

    /// The target of an action: a gate, dead letters, or an operation.
    public struct Subject: Sendable, Hashable {
        /// The kind of target, with its identifiers.
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
        /// - Parameter connector: The connector's path; nil for every connector that refused the event.
        public static func letter(_ id: String, connector: String?) -> Subject {
            Subject(kind: .letter(id, connector: connector))
        }

        /// Every dead letter.
        public static let letters = Subject(kind: .letters)

        /// An operation of a connector, with its arguments.
        ///
        /// - Parameter isDelivered: Whether the outbox stores and delivers the event, instead of a direct call.
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
    ///   - title: The title shown to the operator, such as "retry geocoder/google".
    ///   - question: The question that confirms an action that loses data.
    ///   - commandLine: The equivalent command line.
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
