// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// An HTTP request. It holds placeholders for secrets, which the host replaces as it sends the request.
public struct HTTPRequest: Sendable, Hashable {
    /// The method: `GET`, `POST`, …
    public var method: Method
    /// The target.
    public var url: HTTPURL
    /// The fields of the header; the host adds `Host`, `Content-Length` and the like.
    public var headers: HTTPFields
    /// The content after the header.
    public var body: [UInt8]
    /// Whether the host replaces placeholders in the body. Off by default, because foreign text may look like a
    /// placeholder.
    public var hasPlaceholdersInBody: Bool
    /// Whether the host compresses the body with gzip.
    public var isCompressed: Bool
    /// Whether a redirect to another origin is the response, and not followed: for a request whose signature names its host, and for a
    /// vendor that says in such a response where the request belongs. Requests with ``HTTPService/send(_:)`` only; an older host follows it.
    public var keepsOrigin = false
    /// The longest wait for the response; nil means the operation's deadline and the host's limit.
    public var timeout: Duration?

    /// Creates a request.
    public init(
        _ method: Method,
        _ url: HTTPURL,
        headers: HTTPFields = [:],
        body: [UInt8] = [],
        hasPlaceholdersInBody: Bool = false,
        isCompressed: Bool = false,
        timeout: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.hasPlaceholdersInBody = hasPlaceholdersInBody
        self.isCompressed = isCompressed
        self.timeout = timeout
    }

    /// Creates a request with a JSON body and the matching `Content-Type`.
    public init(_ method: Method, _ url: HTTPURL, headers: HTTPFields = [:], json: JSONValue) {
        self.init(method, url, headers: headers, body: json.utf8())
        self.headers["Content-Type"] = "application/json"
    }
}
