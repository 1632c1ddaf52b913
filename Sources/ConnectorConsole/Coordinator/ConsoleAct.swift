// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Something that can be done to the host, as a value: what it is called, what it needs confirmed, and what does the same on the
/// command line.
public struct ConsoleAct: Sendable, Hashable {
    /// What is done.
    package let verb: Verb
    /// What it is done to.
    package let subject: Subject
    /// What it is called.
    public let title: String
    /// The question to ask before, where something is lost; nil where nothing is.
    public var question: String?
    /// What does the same on the command line; nil if nothing does.
    public var commandLine: String?

    /// What is done.
    package enum Verb: String, Sendable, Hashable, CaseIterable {
        /// Tries a gate at once.
        case retry
        /// Opens a gate.
        case open
        /// Closes a gate.
        case close
        /// Puts dead letters back in the queue.
        case replay
        /// Drops events for good.
        case drop
        /// Calls an operation, or sends an event.
        case call
    }

    /// What it is done to.
    package enum Subject: Sendable, Hashable {
        /// A connector and everything below it.
        case gate(String)
        /// An event that a connector refused; nil for every connector.
        case letter(String, connector: String?)
        /// Every dead letter.
        case letters
        /// An operation of a connector; the outbox delivers what is sent to it, or it is called at once.
        case operation(String, of: String, JSONObject, isDelivered: Bool)
    }

    /// Takes its parts.
    package init(
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
