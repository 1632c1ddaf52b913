// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What went wrong, where, and what to do about it.
///
/// Every failure of a file, a plugin or a server is a `ConnectorError`. Switch on ``code``; show ``description``, which
/// names the place and the remedy; ``treeDescription`` adds the causes and the failed ``outcomes`` below it.
public struct ConnectorError: Error, Sendable {
    /// The error's fields, on the heap: results that carry no error move one pointer instead of 168 bytes.
    private var box: Box

    /// The kind of failure, stable between versions.
    public var code: Code {
        get { fields.code }
        set { fields.code = newValue }
    }

    /// One sentence: what failed, and with which value.
    public var message: String {
        get { fields.message }
        set { fields.message = newValue.withGivenPaths }
    }

    /// One line that says how to fix it, if the message does not.
    public var fix: String? {
        get { fields.fix }
        set { fields.fix = newValue?.withGivenPaths }
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

    /// The words of the library, the system or the vendor, without secrets, and with paths as they were given; otherwise unchanged.
    public var cause: String? {
        get { fields.cause }
        set { fields.cause = newValue?.withGivenPaths }
    }

    /// Whether the same attempt may succeed later, and does no harm if the first one had an effect.
    public var isRetryable: Bool {
        get { fields.isRetryable }
        set { fields.isRetryable = newValue }
    }

    /// Whether the caller's own task was cancelled, for which other APIs throw a `CancellationError`.
    ///
    /// A call that the plugin or vendor abandons yields ``Code/aborted`` instead.
    public var isCancellation: Bool { code == .cancelled }

    /// How long to wait before the next attempt, if the plugin or vendor said so.
    public var retryAfter: Duration? {
        get { fields.retryAfter }
        set { fields.retryAfter = newValue }
    }

    /// The outcome at each leaf that a composite called.
    ///
    /// Empty for the error of a leaf.
    public var outcomes: [CallOutcome] {
        get { fields.outcomes }
        set { fields.outcomes = newValue }
    }

    /// Whether the call took too long, or a composite's call of one of its leaves.
    package var hasTimedOut: Bool { code == .timedOut || outcomes.contains { $0.error?.code == .timedOut } }

    /// Whether a plugin's runner ended that may have had the call, or a composite's call of one of its leaves.
    package var hasEndedRunner: Bool {
        if code == .crashed, let sending, sending != .no { return true }
        return outcomes.contains { $0.error?.hasEndedRunner == true }
    }

    /// For ``Code/crashed``, whether the plugin's runner had taken the call before it ended; ``Sending/no`` for a call that did not
    /// begin, because its time was over or its task cancelled; nil for any other error.
    public var sending: Sending? {
        get { fields.sending }
        set { fields.sending = newValue }
    }

    /// Whether the call, or a composite's call of one of its leaves, may have had an effect that a repetition would have again.
    package var mayHaveTakenEffect: Bool {
        if let sending, sending != .no, !isRetryable { return true }
        return outcomes.contains { $0.error?.mayHaveTakenEffect == true }
    }

    /// Whether the host refused what the plugin had asked of one of its services, such as a request of `http/1`, or of one of a composite's
    /// leaves. That says nothing of the call's arguments.
    package var isServiceRefusal: Bool {
        get { fields.isServiceRefusal || outcomes.contains { $0.error?.isServiceRefusal == true } }
        set { fields.isServiceRefusal = newValue }
    }

    /// The place in the source that created the error.
    public var location: SourceLocation {
        get { fields.location }
        set { fields.location = newValue }
    }

    /// Creates an error; its location is the caller's.
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
                message: message.withGivenPaths,
                fix: fix?.withGivenPaths,
                connector: connector,
                position: position,
                cause: cause?.withGivenPaths,
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
        var sending: Sending?
        var isServiceRefusal = false
        var location: SourceLocation
    }

    /// A place in the source of this project.
    public struct SourceLocation: Sendable, Hashable {
        /// The module and file.
        public var fileID: String
        /// The line, counted from 1.
        public var line: Int
    }
}

extension ConnectorError: CustomStringConvertible {
    /// The place, the message and the remedy in one line. Control characters are escaped: the names and values of callers, vendors and
    /// plugins may have some.
    public var description: String {
        var text = ""
        if let position { text += "\(position): " }
        if let connector { text += "\(connector): " }
        text += "\(message) [\(code)]"
        if let fix { text += "; \(fix)" }
        return text.displayed(isUnicode: true)
    }

    /// The place, the message and the code in one line, for the cause of an error that has the fix as its own.
    package var asCause: String {
        ((position.map { "\($0): " } ?? "") + "\(message) [\(code)]").displayed(isUnicode: true)
    }

    /// The description with the cause, the failed outcomes and the source location below it, for logs and bug reports.
    public var treeDescription: String {
        var text = description
        if let cause { text += "\n├─ cause: \(cause)" }
        if let retryAfter { text += "\n├─ retry after: \(retryAfter)" }
        for outcome in outcomes {
            guard var error = outcome.error else { continue }
            error.connector = error.connector ?? outcome.connector
            text += "\n├─ \(error)"
            if let cause = error.cause { text += "\n│  └─ cause: \(cause)" }
        }
        return text + "\n└─ at: \(location.fileID):\(location.line)"
    }
}
