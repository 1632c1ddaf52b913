// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHTTPServer

/// A request as a vendor sees it: below the vendor's own root, complete, and with its body decoded.
@dynamicMemberLookup
package struct SimulatedRequest: Sendable {
    /// The request. `HEAD` becomes `GET`, and the server drops the answer's body; the target begins with `/`; the fields still
    /// include `Content-Encoding`, although the body is already decoded.
    package var request: ServerRequest
    /// Whether the client wants only the head of the answer.
    package var isHead = false
    /// The size of the body on the wire, before decoding, in bytes.
    package var encodedBodyCount: Int
    /// The prefix that was removed from the target: empty, or `/NAME` where several vendors share one port.
    package var prefix: String
    /// The time at which the request was complete.
    package var receivedAt: Timestamp

    /// Wraps a request that has its body.
    package init(_ request: ServerRequest, prefix: String = "", receivedAt: Timestamp = .now) {
        self.request = request
        if !request.target.hasPrefix("/") { self.request.target = "/" + request.target }
        if request.method == "HEAD" { (self.request.method, isHead) = ("GET", true) }
        encodedBodyCount = request.body.count
        self.prefix = prefix
        self.receivedAt = receivedAt
    }

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
        self.init(ServerRequest(method, target, headers, body: body), prefix: prefix, receivedAt: receivedAt)
    }

    /// A member of the request.
    package subscript<Value>(dynamicMember member: WritableKeyPath<ServerRequest, Value>) -> Value {
        get { request[keyPath: member] }
        set { request[keyPath: member] = newValue }
    }

    /// The method as the client sent it.
    package var sentMethod: String { isHead ? "HEAD" : request.method }

    /// Whether something for a method is for this request; what is for `GET` is also for `HEAD`.
    func isFor(method: String) -> Bool { method == sentMethod || method == request.method }

    /// The path, still percent-encoded, always beginning with `/`.
    package var path: String { String(request.path) }

    /// The names and values after the `?`.
    package var query: QueryItems { QueryItems(parsing: request.query) }

    /// The names and values after the `?`, followed by those of a form in the body.
    package var parameters: QueryItems {
        var items = query
        if mediaType == "application/x-www-form-urlencoded" { items.items += QueryItems(parsing: text).items }
        return items
    }

    /// The decoded path components, without empty ones: `/v1//a%20b/` has `v1` and `a b`.
    package var components: [String] {
        path.split(ascii: "/").map { PercentCoding.decode($0) }
    }

    /// The vendor's root as this client addressed it, without a trailing slash, for links in answers.
    package var baseURL: String {
        "http://\(request.fields["Host"] ?? "127.0.0.1")\(prefix)"
    }

    /// Whether the request is for the list of received requests, which web pages may not read.
    package var isForReceived: Bool { path == "/_received" || path.hasSuffix("/_received") }

    /// Whether a program on this machine sent the request, rather than a web page. A page sends its origin or, with DNS
    /// rebinding, its own domain as the host.
    package var isLocal: Bool {
        guard request.fields["Origin"] == nil,
            !["cross-site", "same-site"].contains(request.fields["Sec-Fetch-Site"])
        else {
            return false
        }
        guard let host = request.fields["Host"] else { return true }
        guard let name = URLParts("http://\(host)")?.host else { return false }
        return name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || Self.isLoopback(name)
    }

    /// Whether a text is an address of 127.0.0.0/8, in dotted decimal.
    private static func isLoopback(_ text: String) -> Bool {
        let parts = text.split(ascii: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && parts.first == 127 && !parts.contains(nil)
    }

    /// The body as text; invalid UTF-8 is repaired.
    package var text: String {
        String(decoding: request.body, as: UTF8.self)
    }

    /// The media type of the body in lower case, without parameters.
    package var mediaType: String? { request.mediaType }

    /// The user name and password of `Authorization: Basic`; `nil` if it is absent or malformed.
    package var basicCredentials: (username: String, password: String)? {
        guard let header = request.fields["Authorization"] else { return nil }
        let parts = header.split(ascii: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Base64.decode(parts[1].trimmingBlanks())
        else { return nil }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (
            String(decoding: bytes[..<colon], as: UTF8.self), String(decoding: bytes[(colon + 1)...], as: UTF8.self)
        )
    }
}
