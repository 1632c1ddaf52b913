// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What went wrong, where, and what to do about it.
///
/// Every failure that a file, a plugin or a server causes is one of these. Switch on ``code``; show ``description``, which
/// names the place and the remedy; ``treeDescription`` adds the causes below it.
public struct ConnectorError: Error, Sendable {
    /// What the error says; on the heap, so that results and calls that carry no error move one pointer, not 168 bytes.
    private var box: Box

    /// The kind of failure, stable between versions.
    public var code: Code {
        get { fields.code }
        set { fields.code = newValue }
    }

    /// One sentence: what failed, and with which value.
    public var message: String {
        get { fields.message }
        set { fields.message = newValue }
    }

    /// One line on how to mend it, if there is anything to say that the message does not.
    public var fix: String? {
        get { fields.fix }
        set { fields.fix = newValue }
    }

    /// The path of the connector in the tree, such as `analytics/segment`.
    public var connector: String? {
        get { fields.connector }
        set { fields.connector = newValue }
    }

    /// The place in a file.
    public var position: FilePosition? {
        get { fields.position }
        set { fields.position = newValue }
    }

    /// What a library, the system or the vendor said, unchanged but for secrets.
    public var cause: String? {
        get { fields.cause }
        set { fields.cause = newValue }
    }

    /// Whether the same attempt may succeed later.
    public var isRetryable: Bool {
        get { fields.isRetryable }
        set { fields.isRetryable = newValue }
    }

    /// Whether the caller itself gave up, since its task was cancelled: what others throw a `CancellationError` for.
    ///
    /// Never what a plugin or vendor says: if that gives up by itself, the code is ``Code/aborted``.
    public var isCancellation: Bool { code == .cancelled }

    /// How long to wait before trying again, if the other side said so.
    public var retryAfter: Duration? {
        get { fields.retryAfter }
        set { fields.retryAfter = newValue }
    }

    /// How each leaf fared that a composite asked: who took the call, and who did not and why.
    ///
    /// Empty for the error of a leaf.
    public var outcomes: [CallOutcome] {
        get { fields.outcomes }
        set { fields.outcomes = newValue }
    }

    /// Where in the source the error was made.
    public var location: SourceLocation {
        get { fields.location }
        set { fields.location = newValue }
    }

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
        box = .fields(
            Fields(
                code: code,
                message: message,
                fix: fix,
                connector: connector,
                position: position,
                cause: cause,
                isRetryable: isRetryable,
                retryAfter: retryAfter,
                location: SourceLocation(fileID: fileID, line: line)
            )
        )
    }

    private var fields: Fields {
        get {
            switch box {
            case .fields(let fields): fields
            }
        }
        set { box = .fields(newValue) }
    }

    private indirect enum Box: Sendable {
        case fields(Fields)
    }

    private struct Fields: Sendable {
        var code: Code
        var message: String
        var fix: String?
        var connector: String?
        var position: FilePosition?
        var cause: String?
        var isRetryable: Bool
        var retryAfter: Duration?
        var outcomes: [CallOutcome] = []
        var location: SourceLocation
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
