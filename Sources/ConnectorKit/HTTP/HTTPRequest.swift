// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// An HTTP request. Secrets stand in it as placeholders, which the host replaces on the wire.
public struct HTTPRequest: Sendable, Hashable {
    /// What is asked: `GET`, `POST`, …
    public var method: Method
    /// Where it goes.
    public var url: HTTPURL
    /// The fields of the header; the host adds `Host`, `Content-Length` and the like.
    public var headers: HTTPFields
    /// What is sent after the header.
    public var body: [UInt8]
    /// Whether the host replaces placeholders in the body. Off unless a secret has to stand in the body, since text of
    /// others may look like one.
    public var hasPlaceholdersInBody: Bool
    /// Whether the host compresses the body with gzip.
    public var isCompressed: Bool
    /// How long to wait at most; nil leaves it to the operation's deadline and the host.
    public var timeout: Duration?

    /// The methods that vendors use.
    public enum Method: String, Sendable, Hashable {
        /// Asks for something.
        case get = "GET"
        /// Asks for the header alone.
        case head = "HEAD"
        /// Hands something over.
        case post = "POST"
        /// Puts something in its place.
        case put = "PUT"
        /// Changes a part.
        case patch = "PATCH"
        /// Removes something.
        case delete = "DELETE"
    }

    /// Makes a request.
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

    /// Makes a request whose body is JSON, and says so in its `Content-Type`.
    public init(_ method: Method, _ url: HTTPURL, headers: HTTPFields = [:], json: JSONValue) {
        self.init(method, url, headers: headers, body: json.utf8())
        self.headers["Content-Type"] = "application/json"
    }
}
