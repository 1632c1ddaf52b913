// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHTTPServer

/// A response of the console.
struct WebResponse: Sendable {
    /// The HTTP status.
    var status: Int
    /// The header fields besides the ``common`` ones and the body's `Content-Type`.
    var fields: [(name: String, value: String)] = []
    /// The body.
    var body: Body
    /// Whether to close the connection after the response.
    var isLast = false
    /// The credential of the client; a streaming body ends when it becomes invalid.
    var credential: Authenticator.Credential?

    /// The body of a response.
    enum Body: Sendable {
        /// A complete body.
        case bytes([UInt8], type: String)
        /// A stream of parts, which the function starts to produce, preceded by some bytes.
        case parts(@Sendable () -> AsyncStream<[UInt8]>, after: [UInt8], type: String)
        /// The server-sent events of a page.
        case events(PageAddress, version: String, Right)
    }

    /// The media type of pages.
    static let html = "text/html; charset=utf-8"

    /// The header fields of every response: no foreign scripts, no framing, no caching, no referrer.
    static let common: HTTPFields = [
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    ]

    /// Creates a response with a body.
    init(status: Int, _ body: Body) {
        self.status = status
        self.body = body
    }

    /// Creates a response with a page.
    init(_ page: Markup, status: Int = 200) {
        self.init(status: status, .bytes(Array(page.text.utf8), type: Self.html))
    }

    /// Creates a response with a JSON document.
    init(_ document: JSONValue, status: Int) {
        self.init(ControlResponse(document, status: status))
    }

    /// Creates a response with plain text.
    init(text: String, status: Int = 200) {
        self.init(status: status, .bytes(Array(text.utf8), type: ControlResponse.text))
    }

    /// Redirects to another URL of this server, with a GET request.
    init(to url: String) {
        self.init(text: "", status: 303)
        fields.append(("Location", url))
    }

    /// Creates a response from a response of the API.
    init(_ response: ControlResponse) {
        let (body, type) = (response.body, response.contentType)
        self.init(
            status: response.status,
            response.stream.map { .parts($0, after: body, type: type) } ?? .bytes(body, type: type)
        )
        if let allow = response.allow { fields.append(("Allow", allow)) }
    }
}
