// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension HTTPResponse {
    /// Converts a response to an error in the vocabulary that all vendors share.
    ///
    /// An adapter whose vendor gives a status another meaning adjusts the result. A redirect counts as the answer of a
    /// proxy or a captive portal, and so does a web page whose status is 2xx, 400 or 422. Both yield `protocolViolation`, and the call
    /// may be retried. So does the refusal of a server that speaks TLS.
    ///
    /// - Parameters:
    ///   - vendor: The vendor's name, which becomes the error's domain.
    ///   - words: The vendor's words from the body; by default the beginning of the body.
    ///   - now: The time that a date in `Retry-After` is measured from.
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
            detail: Int32(clamping: status)
        )
    }

    /// Whether the answer came from something other than the vendor.
    var isForeign: Bool {
        (300..<400).contains(status) || wantsTLS || (isPage && (isSuccess || status == 400 || status == 422))
    }

    /// Whether a server that speaks TLS refuses a request without it, in the words of Go's servers.
    private var wantsTLS: Bool { status == 400 && excerpt.contains("sent an HTTP request to an HTTPS server") }

    /// The error for an answer that is not the vendor's; ignores its `Retry-After`.
    func foreignAnswer(to vendor: String) -> PluginError {
        let kind = isPage ? "a web page" : (300..<400).contains(status) ? "a redirect" : "another server's refusal"
        var message = "\(kind) (HTTP \(status)) came instead of \(vendor)'s answer"
        if let place = headers["Location"]?.prefix(while: { $0 != "?" }) { message += ", to \(place)" }
        message += wantsTLS ? "; its URL must begin with https://" : "; a proxy or a captive portal may have sent it"
        if !excerpt.isEmpty { message += ": \(excerpt)" }
        return PluginError(.protocolViolation, message, domain: vendor, detail: Int32(clamping: status))
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
