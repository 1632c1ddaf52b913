// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A request of HTTP: as a server reads it, or a client sends it.
package struct ServerRequest: Sendable, Hashable {
    /// The method, as it was sent.
    package var method: String
    /// The path, and perhaps a query.
    package var target: String
    /// The header fields. Those that decide who asks, and where the body ends, are there once at most.
    package var fields: HTTPFields
    /// Whether the client speaks HTTP/1.0, which knows no chunks.
    package var isOld = false
    /// Whether a body follows the head.
    package var hasBody = false
    /// The body; empty until it was read.
    package var body: [UInt8]
    /// Who sent it, for counting: the address, for IPv6 its network; empty on a Unix socket.
    package var peer = ""

    /// A request of HTTP/1.1.
    package init(_ method: String, _ target: String, _ fields: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The path without the query, still percent-encoded.
    package var path: Substring { target.prefix { $0 != "?" } }

    /// The query without the `?`, still percent-encoded.
    package var query: Substring { target.dropFirst(path.count + 1) }

    /// The media type of the body in lower case, without parameters; nil if the request does not tell.
    package var mediaType: String? {
        fields["Content-Type"]?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    /// Whether the client may send another request on the connection (RFC 9112, section 9.3).
    ///
    /// A client of HTTP/1.0 may not: it would have to be told that the connection stays open.
    var keepsConnection: Bool {
        guard !isOld else { return false }
        let options = fields.filter { $0.isNamed("Connection") }.flatMap { field in
            field.value.utf8.split { $0 == UInt8(ascii: ",") || $0.isBlank }
        }
        return !options.contains { Substring($0).isEqual(asciiIgnoringCase: "close") }
    }

    /// Whether the client sends the body only when it is told to.
    var awaitsContinue: Bool { hasBody && !isOld && fields["Expect"] != nil }
}
