// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// An HTTP request as a vendor sees it: decoded, complete, and independent of any connection.
package struct SimulatedRequest: Sendable {
    /// The HTTP method in upper case; `HEAD` arrives as `GET`, and the server drops the answer's body.
    package var method: String
    /// Whether the client sent `HEAD`.
    package var isHead = false
    /// The path below the vendor's root, still percent-encoded, always starting with `/`.
    package var path: String
    /// The items of the query.
    package var query: QueryItems
    /// The header as sent, including `Content-Encoding`, although the body is already decoded.
    package var headers: HTTPFields
    /// The body without its content encoding.
    package var body: [UInt8]
    /// Body size on the wire, before decoding, in bytes.
    package var encodedBodyCount: Int
    /// The prefix that was removed from `path`: empty, or `/NAME` where several vendors share one port.
    package var prefix: String
    /// The time at which the request was complete.
    package var receivedAt: Timestamp

    /// Creates a request as a client would send it.
    ///
    /// - Parameters:
    ///   - target: The path and, after a `?`, the query.
    ///   - body: The body without content encoding.
    package init(
        _ method: String,
        _ target: String,
        headers: HTTPFields = [:],
        body: [UInt8] = [],
        prefix: String = "",
        receivedAt: Timestamp = .now
    ) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map(String.init) ?? ""
        self.method = method
        self.path = path.hasPrefix("/") ? path : "/" + path
        self.query = QueryItems(parsing: parts.count > 1 ? parts[1] : "")
        self.headers = headers
        self.body = body
        self.encodedBodyCount = body.count
        self.prefix = prefix
        self.receivedAt = receivedAt
    }

    /// The decoded path components without empty ones: `v1` and `a b` for `/v1//a%20b/`.
    package var components: [String] {
        path.split(separator: "/").map { PercentCoding.decode($0) }
    }

    /// Path and query, as in a request line.
    package var target: String {
        query.items.isEmpty ? path : "\(path)?\(query.encoded)"
    }

    /// The vendor's root as this client addressed it, without a trailing slash, for links in answers.
    package var baseURL: String {
        "http://\(headers["Host"] ?? "127.0.0.1")\(prefix)"
    }

    /// Whether the request is for the list of received requests, which web pages may not read.
    package var isForReceived: Bool { path == "/_received" || path.hasSuffix("/_received") }

    /// Whether a program on this machine sent the request, rather than a web page. A page sends its origin or, with DNS
    /// rebinding, its own domain as the host.
    package var isLocal: Bool {
        guard headers["Origin"] == nil, !["cross-site", "same-site"].contains(headers["Sec-Fetch-Site"]) else {
            return false
        }
        guard let host = headers["Host"] else { return true }
        guard let name = URLParts("http://\(host)")?.host else { return false }
        return name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || Self.isLoopback(name)
    }

    /// Whether a text is an address of 127.0.0.0/8, in dotted decimal.
    private static func isLoopback(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && parts.first == 127 && !parts.contains(nil)
    }

    /// The body as text; invalid UTF-8 is repaired.
    package var text: String {
        String(decoding: body, as: UTF8.self)
    }

    /// The media type of the body in lower case, without parameters.
    package var mediaType: String? {
        headers["Content-Type"]?.split(separator: ";").first?.trimmingBlanks().lowercased()
    }

    /// User name and password of `Authorization: Basic`, or `nil` when there is none or it is malformed.
    package var basicCredentials: (username: String, password: String)? {
        guard let header = headers["Authorization"] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Base64.decode(parts[1].trimmingBlanks())
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }
}
