// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension HTTPResponse {
    /// Converts an error of PostgreSQL, as a server before it passes it on in JSON: `code`, `message`, `details` and `hint`.
    ///
    /// Such servers answer 500 for most codes: where the server is busy, and where a trigger refuses a row or an index cannot hold it. Only
    /// the first passes by itself, and only then may another database take the record. So the code decides ("PostgreSQL Error Codes",
    /// appendix A of its manual), and the HTTP status only where that says as much.
    ///
    /// - Parameters:
    ///   - vendor: The vendor's name, which becomes the error's domain.
    ///   - now: The time that a date in `Retry-After` is measured from.
    package func postgreSQLFailure(vendor: String, now: Timestamp) -> PluginError {
        let body = try? json()
        let code = body?["code"]?.string ?? ""
        let names = Self.codesOfWholeRows.contains(code) ? ["message", "hint"] : ["message", "details", "hint"]
        let words = names.compactMap { body?[$0]?.string }.joined(separator: "; ")
        var failure = self.failure(vendor: vendor, words: words.isEmpty ? nil : words, now: now)
        if let status = Self.status(ofSQLState: code) {
            (failure.status, failure.isRetryable) = (status, status.isUsuallyRetryable)
        }
        return failure
    }

    /// The codes whose details are all values of the row: a column lacks a value, or a check fails.
    private static let codesOfWholeRows: Set = ["23502", "23514"]

    /// The classes of codes that blame a statement, its values or what the database does about them, such as a trigger.
    private static let permanentClasses: Set = ["09", "21", "25", "2D", "38", "39", "3B", "54", "55", "P0"]

    /// What a code means; nil if the HTTP status says as much.
    private static func status(ofSQLState code: String) -> PluginStatus? {
        switch code {
        // The database is read-only, whatever the statement.
        case "25006": nil
        // A key of another table has no such row, a type has no such comparison, or a policy asks for itself.
        case "23503", "42883", "42P17": .invalid
        // The object is in use, or locked.
        case "55006", "55P03": .unavailable
        // The time that a statement may take is over.
        case "57014": .timedOut
        default: permanentClasses.contains(String(code.prefix(2))) ? .invalid : nil
        }
    }
}
