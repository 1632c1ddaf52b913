// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension HTTPResponse {
    /// Converts a response to an error in the vocabulary that all vendors share.
    ///
    /// An adapter whose vendor gives a status another meaning adjusts the result. A redirect counts as the answer of a
    /// proxy or a captive portal, and so does a web page whose status is 2xx, 400, 413 or 422. All yield `protocolViolation`, and the call
    /// may be retried; only 413 stays `tooLarge`, so that a batch is divided. So does the refusal of a server that speaks TLS. A 413 with
    /// `Retry-After` may be retried, too: it is temporary (RFC 9110, section 15.5.14). So may 421 and 425, with which a server has done
    /// nothing. Whether any other 400, 404, 410, 413 or 422 is the vendor's, ``VendorAnswer`` decides.
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
        let wait = retryAfter(now: now)
        let mayPass = kind.isUsuallyRetryable && ![402, 407, 505].contains(status)
        return PluginError(
            kind,
            message,
            isRetryable: mayPass || (status == 413 && wait != nil),
            retryAfter: wait,
            domain: vendor,
            detail: Int32(clamping: status)
        )
    }

    /// Whether the body is a refusal that repeats the status as `code`, beside the words in `error`.
    package var isCodedError: Bool {
        let body = try? json()
        return body?["code"]?.integer == Int64(status) && body?["error"]?.string != nil
    }

    /// Whether the answer came from something other than the vendor.
    var isForeign: Bool {
        (300..<400).contains(status) || tlsRefusal != nil
            || (isPage && (isSuccess || [400, 413, 422].contains(status)))
    }

    /// The error for an answer that is not the vendor's; ignores its `Retry-After`.
    func foreignAnswer(to vendor: String) -> PluginError {
        let kind =
            switch status {
            case _ where isPage: "a web page"
            case 304: "an answer for a cache"
            case 300..<400: "a redirect"
            default: "another server's refusal"
            }
        var message = "\(kind) (HTTP \(status)) came instead of \(vendor)'s answer"
        if let place = headers["Location"]?.prefix(while: { $0 != "?" }) { message += ", to \(place)" }
        let advice =
            switch tlsRefusal {
            case .plain: "its URL must begin with https://"
            case .certificate: "its server requires a client certificate, and the host has none to show"
            case nil where status == 413: "a gateway on the way takes only smaller requests: raise its limit"
            case nil where status == 404 || status == 410:
                "its URL may be wrong, or a gateway on the way has no server for it"
            case nil where !isPage && (400..<500).contains(status):
                "its URL may be wrong, or a gateway on the way may have sent it"
            case nil: "a proxy or a captive portal may have sent it"
            }
        message += "; \(advice)"
        if !excerpt.isEmpty { message += ": \(excerpt)" }
        return PluginError(
            status == 413 ? .tooLarge : .protocolViolation,
            message,
            isRetryable: true,
            domain: vendor,
            detail: Int32(clamping: status)
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
        // The account, the proxy, the connection and the moment are at fault, and not the request.
        case 402, 407, 421, 425, 500...599: .unavailable
        case 400...499: .failed
        default: .protocolViolation
        }
    }
}
