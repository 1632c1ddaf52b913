// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Something that went wrong: an exception with its causes, or a message.
public struct CrashReport: Sendable, Hashable {
    /// Names the report towards the vendor: 32 hexadecimal digits in lower case, the same in every attempt to deliver it.
    public var id: String
    /// When it happened; nil if that is when it is delivered.
    public var timestamp: Timestamp?
    /// How bad it is.
    public var level: Level
    /// What happened, in words; always there if there are no exceptions.
    public var message: String?
    /// What was thrown: first what reached the top, then the cause of each one, so that the root cause stands last.
    public var exceptions: [CrashException]
    /// Whether the application went on. An exception that ended it was not handled.
    public var isHandled: Bool
    /// Short values to search by.
    public var tags: [String: String]
    /// To whom it happened.
    public var user: CrashUser?
    /// What happened before, oldest first.
    public var breadcrumbs: [Breadcrumb]
    /// The application's version.
    public var release: String?
    /// Where the application runs: `production`, `staging`, …
    public var environment: String?
    /// What makes reports the same problem, instead of what the vendor makes of the frames; empty leaves it to the vendor.
    public var fingerprint: [String]
    /// Further facts, grouped: `{"device": {"model": "…"}}`.
    public var context: JSONObject

    /// How bad it is, worst first.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// The application ended.
        case fatal
        /// Something failed.
        case error
        /// Something may fail.
        case warning
        /// Something happened.
        case info
        /// Something for whoever looks for a mistake.
        case debug
    }

    /// Makes a report with an identifier of its own.
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

    /// Reports an error that the application went on from.
    ///
    /// - Parameters:
    ///   - error: Its type and description become the exception; Swift errors carry no stack.
    ///   - tags: Short values to search by.
    public init(of error: any Error, tags: [String: String] = [:]) {
        self.init(level: .error, exceptions: [CrashException(type: "\(type(of: error))", message: "\(error)")])
        self.tags = tags
    }
}
