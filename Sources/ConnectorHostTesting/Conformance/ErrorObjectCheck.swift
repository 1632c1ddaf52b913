// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector

/// Checks the errors that a plugin reports: see `connector/error.h`.
enum ErrorObjectCheck {
    /// The statuses that a plugin may fail with.
    private static let failures = Int32(CONNECTOR_FAILED)...Int32(CONNECTOR_NOT_OPEN)

    /// Checks a status without an error object.
    static func check(status: Int32, of what: String, _ report: (PluginConformance.Finding) -> Void) {
        guard !failures.contains(status) else { return }
        report(.init(.errors, "\(what) failed with the status \(status), which no plugin may use"))
    }

    /// Checks an error object and the status that came with it.
    ///
    /// - Parameter isMisuse: Whether the plugin may fail with `CONNECTOR_MISUSE`.
    static func check(
        _ error: connector_error,
        status: Int32,
        of what: String,
        isMisuse: Bool = false,
        _ report: (PluginConformance.Finding) -> Void
    ) {
        if !isMisuse || status != Int32(CONNECTOR_MISUSE) { check(status: status, of: what, report) }
        if error.code != status {
            report(.init(.errors, "\(what) failed with the status \(status), but its error object says \(error.code)"))
        }
        let message = unsafe withUnsafeBytes(of: error.message) { unsafe Array($0.prefix { $0 != 0 }) }
        let domain = unsafe withUnsafeBytes(of: error.domain) { unsafe Array($0.prefix { $0 != 0 }) }
        if message.isEmpty { report(.init(.errors, "\(what) failed without a message")) }
        if String(validating: message, as: UTF8.self) == nil || String(validating: domain, as: UTF8.self) == nil {
            report(.init(.errors, "\(what) failed with a message that is not UTF-8"))
        }
        if error.retryable > 1 { report(.init(.errors, "\(what): retryable is \(error.retryable), not 0 or 1")) }
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
