// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What went wrong, where, and what to do about it.
///
/// Every failure that a file, a plugin or a server causes is one of these. Switch on ``code``; show ``description``, which
/// names the place and the remedy; ``treeDescription`` adds the causes below it.
public struct ConnectorError: Error, Sendable {
    /// The kind of failure, stable between versions.
    public var code: Code

    /// One sentence: what failed, and with which value.
    public var message: String

    /// One line on how to mend it, if there is anything to say that the message does not.
    public var fix: String?

    /// The path of the connector in the tree, such as `analytics/segment`.
    public var connector: String?

    /// The place in a file.
    public var position: FilePosition?

    /// What a library, the system or the vendor said, unchanged but for secrets.
    public var cause: String?

    /// Whether the same attempt may succeed later.
    public var isRetryable: Bool

    /// How long to wait before trying again, if the other side said so.
    public var retryAfter: Duration?

    /// Where in the source the error was made.
    public var location: SourceLocation

    /// Makes an error; the location is that of the caller.
    public init(
        _ code: Code,
        _ message: String,
        fix: String? = nil,
        connector: String? = nil,
        position: FilePosition? = nil,
        cause: String? = nil,
        isRetryable: Bool = false,
        retryAfter: Duration? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.fix = fix
        self.connector = connector
        self.position = position
        self.cause = cause
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
        self.location = SourceLocation(fileID: fileID, line: line)
    }

    /// A place in the source of this project.
    public struct SourceLocation: Sendable, Hashable {
        /// The module and file.
        public var fileID: String
        /// The line, from 1.
        public var line: Int
    }
}

extension ConnectorError: CustomStringConvertible {
    /// The place, the message and the remedy in one line.
    public var description: String {
        var text = ""
        if let position { text += "\(position): " }
        if let connector { text += "\(connector): " }
        text += "\(message) [\(code)]"
        if let fix { text += "; \(fix)" }
        return text
    }

    /// The description with the cause and the source location below it, for logs and bug reports.
    public var treeDescription: String {
        var text = description
        if let cause { text += "\n├─ cause: \(cause)" }
        if let retryAfter { text += "\n├─ retry after: \(retryAfter)" }
        return text + "\n└─ at: \(location.fileID):\(location.line)"
    }
}
