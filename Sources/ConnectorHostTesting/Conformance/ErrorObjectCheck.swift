// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector

/// Checks the errors that a plugin reports: see `connector/error.h`.
enum ErrorObjectCheck {
    /// The statuses that a plugin may fail with.
    private static let failures = Int32(CONNECTOR_FAILED)...Int32(CONNECTOR_NOT_OPEN)
    /// Messages that say nothing, in lower case and without punctuation at the end.
    private static let empty: Set<String> = [
        "error", "failed", "failure", "unknown", "unknown error", "an error occurred",
    ]

    /// A function that adds a finding.
    typealias Report = (PluginConformance.Rule, String) -> Void

    /// Checks a status without an error object.
    static func check(status: Int32, of what: String, _ report: Report) {
        guard !failures.contains(status) else { return }
        report(.errorStatus, "\(what) failed with the status \(status), which no plugin may use")
    }

    /// Checks an error object and the status that came with it.
    ///
    /// - Parameter isMisuse: Whether the plugin may fail with `CONNECTOR_MISUSE`.
    static func check(
        _ error: connector_error,
        status: Int32,
        of what: String,
        isMisuse: Bool = false,
        _ report: Report
    ) {
        if !isMisuse || status != Int32(CONNECTOR_MISUSE) { check(status: status, of: what, report) }
        if error.code != status {
            report(.errorObject, "\(what) failed with the status \(status), but its error object says \(error.code)")
        }
        let message = unsafe withUnsafeBytes(of: error.message) { unsafe Array($0.prefix { $0 != 0 }) }
        let domain = unsafe withUnsafeBytes(of: error.domain) { unsafe Array($0.prefix { $0 != 0 }) }
        if String(validating: message, as: UTF8.self) == nil || String(validating: domain, as: UTF8.self) == nil {
            report(.errorUTF8, "\(what) failed with a message that is not UTF-8")
        }
        if error.retryable > 1 { report(.errorRetryable, "\(what): retryable is \(error.retryable), not 0 or 1") }
        check(message: String(decoding: message, as: UTF8.self), of: what, report)
    }

    private static func check(message: String, of what: String, _ report: Report) {
        guard !message.isEmpty else { return report(.errorMessage, "\(what) failed without a message") }
        if message.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            report(.errorText, "\(what) failed with a message that has control characters")
        }
        let words = message.lowercased().trimmed(of: ".! ")
        if empty.contains(words) || !words.contains(" ") {
            report(.errorHelp, "\(what) failed with the message \"\(message)\"")
        }
    }

    /// The message; invalid UTF-8 is repaired.
    static func message(of error: connector_error) -> String {
        unsafe withUnsafeBytes(of: error.message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// An empty error object for the plugin to fill in.
    static var blank: connector_error {
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        return error
    }
}

extension String {
    /// The text without these characters at its ends.
    fileprivate func trimmed(of characters: String) -> String {
        var text = self[...]
        while let last = text.last, characters.contains(last) { text.removeLast() }
        while let first = text.first, characters.contains(first) { text.removeFirst() }
        return String(text)
    }
}
