// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A request with its secrets put in, as it goes over the wire; redirects change it.
package struct OutgoingRequest: Sendable {
    /// `GET`, `POST`, …
    package var method: String
    /// Where it goes.
    package var url: URLParts
    /// Without what belongs to the connection.
    package var headers: HTTPFields
    /// The names of the fields that a secret is in.
    package var secretFields: [String] = []
    /// Compressed already if it was asked for.
    package var body: [UInt8]
    /// Whether a secret is in the body.
    package var isBodySecret = false

    /// The request that a redirect asks for; the new place is not checked against the allow-list yet.
    ///
    /// As RFC 9110, section 15.4, and the Fetch standard: 301, 302 and 303 make it a GET; 307 and 308 keep method and body.
    /// Towards another origin it loses its credentials, and a body with a secret does not go there at all.
    package func redirected(status: Int, to location: String) throws(ServiceFailure) -> OutgoingRequest {
        var next = self
        next.url = try HTTPTarget.redirect(location, from: url)
        if status != 307, status != 308, method != "GET" {
            if method != "HEAD" { next.method = "GET" }
            next.body = []
            next.isBodySecret = false
            next.headers.fields.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        if !HTTPTarget.isSameOrigin(url, next.url) {
            guard !next.isBodySecret else {
                throw .denied("the server redirects a request whose body has a secret in it to \(next.url.authority)")
            }
            for name in secretFields + ["Authorization", "Cookie"] { next.headers.remove(name) }
        }
        return next
    }
}
