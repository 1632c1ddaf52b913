// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHTTPServer

/// An answer of the console.
struct WebResponse: Sendable {
    /// The HTTP status.
    var status: Int
    /// The header fields that other answers do not have.
    var fields: [(name: String, value: String)] = []
    /// What is sent.
    var body: Body
    /// Whether the connection ends with it.
    var isLast = false
    /// What let the reader in: a part after the other is sent for as long as it is good.
    var credential: Keys.Credential?

    /// What is sent.
    enum Body: Sendable {
        /// All of it.
        case bytes([UInt8], type: String)
        /// A part after the other, for as long as they come.
        case parts(AsyncStream<[UInt8]>, after: [UInt8], type: String)
        /// Events, for as long as a page is watched.
        case events(PageAddress, version: String, Right)
    }

    /// The type of pages.
    static let html = "text/html; charset=utf-8"

    /// The fields of every answer: nothing runs that is not ours, nothing is framed, nothing is kept, nothing is told to others.
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

    /// An answer with a status of its own.
    init(status: Int, _ body: Body) {
        self.status = status
        self.body = body
    }

    /// A page.
    init(_ page: Markup, status: Int = 200) {
        self.init(status: status, .bytes(Array(page.text.utf8), type: Self.html))
    }

    /// A document.
    init(_ document: JSONValue, status: Int) {
        self.init(ControlResponse(document, status: status))
    }

    /// A sentence.
    init(text: String, status: Int = 200) {
        self.init(status: status, .bytes(Array(text.utf8), type: ControlResponse.text))
    }

    /// Leads elsewhere on this server.
    init(to url: String) {
        self.init(text: "", status: 303)
        fields.append(("Location", url))
    }

    /// An answer of the API.
    init(_ response: ControlResponse) {
        let (body, type) = (response.body, response.contentType)
        self.init(
            status: response.status,
            response.stream.map { .parts($0, after: body, type: type) } ?? .bytes(body, type: type)
        )
        if let allow = response.allow { fields.append(("Allow", allow)) }
    }
}
