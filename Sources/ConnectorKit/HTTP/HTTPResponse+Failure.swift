// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

extension HTTPResponse {
    /// The failure that a response stands for, in the one vocabulary of all vendors.
    ///
    /// Vendors that mean something else by a status change the result.
    ///
    /// - Parameters:
    ///   - vendor: The domain of the error.
    ///   - words: What the vendor said in the body; by default the beginning of the body.
    ///   - now: The moment from which a date in `Retry-After` counts.
    public func failure(vendor: String, words: String? = nil, now: Timestamp) -> PluginError {
        let kind = Self.kind(of: status)
        var message = "\(vendor) answered HTTP \(status)"
        let words = words ?? excerpt
        if !words.isEmpty { message += ": \(words)" }
        return PluginError(
            kind,
            message,
            isRetryable: kind.isUsuallyRetryable && status != 501 && status != 505,
            retryAfter: retryAfter(now: now),
            domain: vendor,
            detail: Int32(status)
        )
    }

    private static func kind(of status: Int) -> PluginStatus {
        switch status {
        case 400, 422: .invalid
        case 401, 403: .unauthorized
        case 404, 410: .notFound
        case 405, 501: .unsupported
        case 408, 504: .timedOut
        case 409, 412: .conflict
        case 413: .tooLarge
        case 429: .rateLimited
        case 500...599: .unavailable
        case 300...399, 400...499: .failed
        default: .protocolViolation
        }
    }
}
