// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Parse's refusals: `{code, error}`, where the code is more precise than the HTTP status.
enum ParseFailure {
    /// Codes of the REST guide (docs.parseplatform.org/rest/guide/#error-codes) that mean one of the shared statuses.
    private static let statuses: [Int64: PluginStatus] = [
        1: .unavailable, 100: .unavailable, 101: .notFound, 116: .tooLarge, 119: .unauthorized, 124: .timedOut,
        137: .conflict, 155: .rateLimited, 159: .conflict, 209: .unauthorized,
    ]

    /// The error, with Parse's own words.
    static func failure(_ response: HTTPResponse, now: Timestamp) -> PluginError {
        let body = try? response.json()
        let words = body?["error"]?.string ?? body?["message"]?.string
        var failure = response.failure(vendor: "parse", words: words, now: now)
        // 429 is more precise than any code.
        guard response.status != 429, let code = body?["code"]?.integer else {
            // Parse gives each missing object a code: this is another server's.
            if failure.status == .notFound { (failure.status, failure.isRetryable) = (.protocolViolation, true) }
            return failure
        }
        failure.detail = Int32(clamping: code)
        guard let status = statuses[code] else { return failure }
        failure.status = status
        failure.isRetryable = [.unavailable, .timedOut, .rateLimited].contains(status)
        return failure
    }
}
