// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation

/// A request as sent, with its secrets inserted; redirects change it.
package struct OutgoingRequest: Sendable {
    /// `GET`, `POST`, …
    package var method: String
    /// The target.
    package var url: URLParts
    /// The target with the mask in place of every secret in its host and port, and without its path; nil if the URL has no secret.
    package var maskedURL: URLParts?
    /// The headers, without connection headers.
    package var headers: HTTPFields
    /// The names of the header fields that contain a secret.
    package var secretFields: [String] = []
    /// The headers that ask the server to confirm a cached response.
    package var conditions: HTTPFields = [:] {
        didSet { headers.fields += conditions.fields }
    }
    /// The body, already compressed if the plugin requested it.
    package var body: [UInt8]
    /// Whether the body comes in parts.
    package var isBodyInParts = false
    /// Whether the body contains a secret.
    package var isBodySecret = false
    /// Whether a redirect may not make it a GET.
    package var keepsMethod = false
    /// Whether a redirect to another origin is the response, and not followed.
    package var keepsOrigin = false

    /// The target as messages name it. They go back to the plugin, which must not learn from them what the host inserted, nor whether
    /// its own text contains another connector's secret: so nothing in them is redacted.
    var namedURL: URLParts { maskedURL ?? url }

    /// Whether the method changes nothing at the server.
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

    /// Whether a server may leave the body unread, and take it for the next request on the connection: that of a method for which no
    /// standard defines one, such as GET (RFC 9110, section 9.3.1).
    var mayLeaveBody: Bool { (isBodyInParts || !body.isEmpty) && !Self.methodsWithBody.contains(method) }

    /// By RFC 9110 and 5789, by RFC 3253, 4918 and 5323 (WebDAV), and QUERY, which is a GET with a body.
    private static let methodsWithBody: Set<String> = [
        "POST", "PUT", "PATCH", "QUERY", "PROPFIND", "PROPPATCH", "MKCOL", "LOCK", "REPORT", "SEARCH",
    ]

    /// The approximate size of the request line and the headers, in bytes.
    var headSize: Int {
        let line = method.utf8.count + url.description.utf8.count + url.authority.utf8.count
        return headers.reduce(line + 128) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    /// Whether the response with a redirect is handed over, because the request may not go where it leads.
    func isAnswered(byRedirectTo location: String) -> Bool {
        guard keepsOrigin, let target = try? HTTPTarget.redirect(location, from: url) else { return false }
        return !HTTPTarget.isSameOrigin(url, target)
    }

    /// The request to a redirect's target, which is not yet checked against the allow-list.
    ///
    /// It follows RFC 9110, section 15.4: 303 makes it a GET. Any other keeps method and body: unlike a browser, the host does not turn
    /// a POST into a GET at 301 and 302, which would pass for a write. A request to another origin loses its
    /// credentials, and a body with a secret is never sent there. No request goes on without the TLS that it began with.
    package func redirected(status: Int, to location: String) throws(ServiceFailure) -> OutgoingRequest {
        let server = "the server \(namedURL.authority)"
        var next = self
        do throws(HTTPTarget.RedirectFault) {
            next.url = try HTTPTarget.redirect(location, from: url)
        } catch {
            // The server may repeat what the host has inserted into the URL.
            throw .violation("\(server) redirects to \(error.target(isSecret: maskedURL != nil))")
        }
        next.maskedURL = maskedURL.map { HTTPTarget.masked(next.url, reachedFrom: url, named: $0) }
        guard url.scheme != "https" || next.url.scheme == "https" else {
            throw .violation("\(server) redirects from https to http, to \(next.namedURL.authority)")
        }
        // They refer to an earlier response of this URL.
        for field in conditions { next.headers.remove(field.name) }
        let becomesGET = status == 303 || [301, 302].contains(status) && ["GET", "HEAD"].contains(method)
        if becomesGET, keepsMethod, method != "GET", method != "HEAD" {
            let path = next.namedURL.rest.prefix { $0 != "?" }
            throw .violation(
                "\(server) answers \(method) with a redirect (\(status)) to \(next.namedURL.authority)\(path), which would lose its body; "
                    + "set the endpoint to that address if it takes the request"
            )
        }
        if becomesGET, method != "GET" || isBodyInParts || !body.isEmpty {
            if method != "HEAD" { next.method = "GET" }
            next.body = []
            next.isBodyInParts = false
            next.isBodySecret = false
            next.headers.fields.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        guard !next.isBodyInParts else {
            throw .violation("\(server) redirects a request whose body comes in parts, and cannot be sent again")
        }
        if !HTTPTarget.isSameOrigin(url, next.url) {
            guard !next.isBodySecret else {
                throw .violation(
                    "\(server) redirects a request whose body contains a secret to \(next.namedURL.authority)"
                )
            }
            for name in secretFields + ["Authorization", "Cookie"] { next.headers.remove(name) }
        }
        return next
    }
}
