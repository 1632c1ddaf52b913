// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A failure: an exception with its causes, or a message.
public struct CrashReport: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits, the same in every delivery attempt, so the vendor recognizes duplicates.
    public var id: String
    /// The time of the failure, to the nanosecond; nil means the time at which it is sent.
    public var timestamp: Timestamp?
    /// The severity.
    public var level: Level
    /// A description of the failure; required without exceptions.
    public var message: String?
    /// The chain of exceptions, from the outermost to the root cause: each is followed by its cause.
    public var exceptions: [CrashException]
    /// Whether the application survived the exception.
    public var isHandled: Bool
    /// Short, searchable values by name.
    public var tags: [String: String]
    /// The affected user.
    public var user: CrashUser?
    /// The preceding events, oldest first.
    public var breadcrumbs: [Breadcrumb]
    /// The application's version.
    public var release: String?
    /// The application's environment: `production`, `staging`, …
    public var environment: String?
    /// The key by which the vendor groups reports; empty lets the vendor group by stack frames.
    public var fingerprint: [String]
    /// Further facts, grouped: `{"device": {"model": "…"}}`.
    public var context: JSONObject

    /// Severities, worst first.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// The application ended.
        case fatal
        /// An operation failed.
        case error
        /// A failure is likely.
        case warning
        /// A normal event.
        case info
        /// Details for debugging.
        case debug
    }

    /// Creates a report with a new ``id``.
    public init(level: Level, message: String? = nil, exceptions: [CrashException] = []) {
        id = RandomIdentifier.uuid().filter { $0 != "-" }
        self.level = level
        self.message = message
        self.exceptions = exceptions
        isHandled = true
        tags = [:]
        breadcrumbs = []
        fingerprint = []
        context = JSONObject()
    }

    /// Creates a report of an error that the application survived.
    ///
    /// - Parameters:
    ///   - error: The error, whose type and description become the exception. Swift errors carry no stack.
    ///   - tags: Short, searchable values by name.
    public init(of error: any Error, tags: [String: String] = [:]) {
        self.init(level: .error, exceptions: [CrashException(type: "\(type(of: error))", message: "\(error)")])
        self.tags = tags
    }
}
