// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

extension HTTPResponse {
    /// The failure that a response stands for, in the one vocabulary of all vendors.
    ///
    /// Vendors that mean something else by a status change the result. A redirect, and a web page under a status of success or
    /// under one that would blame the request, is nobody's answer but that of a proxy or a captive portal: the status is
    /// `protocolViolation`, and the call may be tried again.
    ///
    /// - Parameters:
    ///   - vendor: The domain of the error.
    ///   - words: What the vendor said in the body; by default the beginning of the body.
    ///   - now: The moment from which a date in `Retry-After` counts.
    public func failure(vendor: String, words: String? = nil, now: Timestamp) -> PluginError {
        guard !isForeign else { return foreignAnswer(to: vendor) }
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

    /// Whether somebody else than the vendor answered.
    var isForeign: Bool {
        (300..<400).contains(status) || (isPage && (isSuccess || status == 400 || status == 422))
    }

    /// The failure that an answer of somebody else stands for. When to try again is not for them to say.
    func foreignAnswer(to vendor: String) -> PluginError {
        var message = "\(isPage ? "a web page" : "a redirect") (HTTP \(status)) came instead of \(vendor)'s answer"
        if let place = headers["Location"]?.prefix(while: { $0 != "?" }) { message += ", to \(place)" }
        message += "; a proxy or a captive portal may have sent it"
        if !excerpt.isEmpty { message += ": \(excerpt)" }
        return PluginError(.protocolViolation, message, domain: vendor, detail: Int32(status))
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
        case 400...499: .failed
        default: .protocolViolation
        }
    }
}
