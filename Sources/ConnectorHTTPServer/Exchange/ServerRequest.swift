// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// An HTTP request, as a server reads it or a client sends it.
package struct ServerRequest: Sendable, Hashable {
    /// The method, spelled as the client sent it.
    package var method: String
    /// The path with an optional query.
    package var target: String
    /// The header fields. In a parsed request, those that identify the client or frame the body occur at most once.
    package var fields: HTTPFields
    /// Whether the client speaks HTTP/1.0, which has no chunked encoding.
    package var isOld = false
    /// Whether a body follows the head.
    package var hasBody = false
    /// The body; empty until it has been read.
    package var body: [UInt8]
    /// The key of the sender for counting: the IPv4 address or the IPv6 network; empty on a Unix socket.
    package var peer = ""

    /// Creates a request of HTTP/1.1.
    package init(_ method: String, _ target: String, _ fields: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The path without the query, still percent-encoded.
    package var path: Substring { target.prefix(before: "?") }

    /// The query without the `?`, still percent-encoded.
    package var query: Substring { Substring(target.utf8.dropFirst(path.utf8.count + 1)) }

    /// The media type of the body in lower case, without parameters; nil if the request does not state it.
    package var mediaType: String? { fields["Content-Type"]?.mediaType }

    /// Whether the client may send another request on the connection (RFC 9112, section 9.3).
    ///
    /// An HTTP/1.0 client may not, because the response would have to say that the connection stays open.
    var keepsConnection: Bool {
        guard !isOld else { return false }
        let options = fields.filter { $0.isNamed("Connection") }.flatMap { field in
            field.value.utf8.split { $0 == UInt8(ascii: ",") || $0.isBlank }
        }
        return !options.contains { Substring($0).isEqual(asciiIgnoringCase: "close") }
    }

    /// Whether the client sends the body only after the server has told it to continue.
    var awaitsContinue: Bool { hasBody && !isOld && fields["Expect"] != nil }
}
