// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
public import ConnectorHost

/// An act on the host or of the application, as a value: its title, the question to confirm it, and the equivalent command line.
///
/// The closure that performs an application's act is bound by ``SceneContext/act(_:_:title:question:perform:)`` and is not part
/// of the value. The ``Console`` builds the scene that offers the act to find the closure again, so it refuses an act that is no
/// longer offered.
public struct ConsoleAct: Sendable, Hashable, Identifiable {
    /// The kind of act.
    public let verb: Verb
    /// The target of the act.
    public let subject: Subject
    /// The title shown to the operator.
    public let title: String
    /// The question that confirms an act that loses data; nil if it loses nothing.
    public var question: String?
    /// The equivalent command line; nil if there is none.
    public var commandLine: String?
    /// The title of the menu that contains it; empty for a button of its own.
    public var menu = ""
    /// The character that triggers it while its scene is shown, before any other meaning of the key; nil for none.
    public var shortcut: Character?
    /// Pending or failed, or loaded if it is neither. Set by the console.
    public internal(set) var state = ViewState.loaded

    /// A kind of act.
    public struct Verb: RawRepresentable, Sendable, Hashable {
        /// The word shown to the operator.
        public let rawValue: String

        /// Creates a verb for an application's act; a host performs only the verbs below.
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
        /// Makes a new plan of a reload.
        public static let plan = Verb(rawValue: "plan")
        /// Applies a plan, unless something has changed since it was made.
        public static let apply = Verb(rawValue: "apply")
    }

    /// The target of an act: a gate, dead letters, a plan, an operation, or a closure that the application bound to a name.
    public struct Subject: Sendable, Hashable {
        /// The kind of target, with its identifiers.
        package let kind: Kind

        package enum Kind: Sendable, Hashable {
            case gate(String)
            case letter(String, connector: String?)
            case letters(ShownLetters?)
            case plan(Plan.Basis?)
            case operation(String, of: String, JSONObject, isDelivered: Bool)
            case application(String, at: Route, FormValues)
        }

        /// A connector and everything below it.
        public static func gate(_ path: String) -> Subject { Subject(kind: .gate(path)) }

        /// An event that a connector refused.
        ///
        /// - Parameter connector: The connector's path; nil for every connector that refused the event.
        public static func letter(_ id: String, connector: String?) -> Subject {
            Subject(kind: .letter(id, connector: connector))
        }

        /// Every dead letter, whichever there are when the act is performed.
        public static let letters = Subject(kind: .letters(nil))

        /// Every dead letter, as long as they are those that were shown.
        static func letters(asShown letters: ShownLetters) -> Subject { Subject(kind: .letters(letters)) }

        /// Whether it is every dead letter.
        package var isEveryLetter: Bool { if case .letters = kind { true } else { false } }

        /// The plan of a reload, identified by its basis; nil for the next plan.
        public static func plan(_ basis: Plan.Basis?) -> Subject { Subject(kind: .plan(basis)) }

        /// An operation of a connector, with its arguments.
        ///
        /// - Parameter isDelivered: Whether the call is an event that the outbox stores and delivers, not a direct call.
        public static func operation(
            _ name: String,
            of path: String,
            _ arguments: JSONObject,
            isDelivered: Bool
        ) -> Subject {
            Subject(kind: .operation(name, of: path, arguments, isDelivered: isDelivered))
        }
    }

    /// Identifies the act in its console, without its arguments.
    public var id: String {
        switch subject.kind {
        case .gate(let path): "\(verb.rawValue) gate \(path)"
        case .letter(let id, let connector): "\(verb.rawValue) letter \(id) \(connector ?? "")"
        // What is shown has an act of its own, so that a button acts on the letters, or applies the plan, shown beside it.
        case .letters(let shown):
            "\(verb.rawValue) letters" + (shown.map { " \(UInt(bitPattern: $0.hashValue))" } ?? "")
        case .plan(let basis): "\(verb.rawValue) plan \(basis.map { UInt(bitPattern: $0.hashValue) } ?? 0)"
        case .operation(let name, let path, _, _): "\(verb.rawValue) \(name) of \(path)"
        case .application(let name, let route, _): "\(name) at \(route)"
        }
    }

    /// Whether a closure of the application performs it.
    package var isOfApplication: Bool { if case .application = subject.kind { true } else { false } }

    /// Creates an act on the host.
    ///
    /// - Parameters:
    ///   - title: The title shown to the operator, such as "retry geocoder/google".
    ///   - question: The question that confirms an act that loses data.
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
