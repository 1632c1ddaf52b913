// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import NIOCore
internal import NIOHTTP1

/// An HTTP response.
package struct ServerResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The header fields, without those for framing; only an empty response to HEAD may have Content-Length.
    package var fields: HTTPFields
    /// The body.
    package var body: Body
    /// Whether to close the connection after the response.
    package var isLast: Bool

    /// The body of a response.
    package enum Body: Sendable {
        /// A complete body.
        case bytes([UInt8])
        /// A stream of parts, until the function returns. The function is not called for HEAD.
        case stream(@Sendable (BodyWriter) async throws -> Void)
        /// Half of a body with the Content-Length of the whole, after which the connection is closed. Simulates a fault.
        case truncated([UInt8])
        /// No response: the connection is reset. Simulates a fault.
        case reset
    }

    /// Creates a response.
    package init(status: Int, _ fields: HTTPFields = [:], _ body: Body = .bytes([]), isLast: Bool = false) {
        self.status = status
        self.fields = fields
        self.body = body
        self.isLast = isLast
    }

    /// The Content-Length among the fields; nil if there is none.
    var statedLength: Int? { fields["Content-Length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }

    /// How the end of the body is marked.
    enum Framing: Hashable {
        /// By Content-Length.
        case length(Int)
        /// By the last chunk of chunked encoding.
        case chunked
        /// By the end of the connection, or not at all for a response that cannot have a body.
        case none
    }

    /// Serializes header fields.
    static func lines(_ fields: HTTPFields) -> ByteBuffer {
        var lines = ByteBuffer()
        for field in fields { lines.write(field) }
        return lines
    }

    /// Serializes the status line and the header fields.
    ///
    /// - Parameter common: The header lines of every response.
    func head(_ common: ByteBuffer, _ framing: Framing, isLast: Bool) -> ByteBuffer {
        let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
        var head = ByteBuffer(string: "HTTP/1.1 \(min(max(status, 100), 999)) \(reason)\r\n")
        head.writeImmutableBuffer(common)
        for field in fields where !["content-length", "transfer-encoding"].contains(field.name.lowercased()) {
            head.write(field)
        }
        switch framing {
        case .length(let count): head.writeString("Content-Length: \(count)\r\n")
        case .chunked: head.writeString("Transfer-Encoding: chunked\r\n")
        case .none: break
        }
        head.writeString(isLast ? "Connection: close\r\n\r\n" : "\r\n")
        return head
    }

    /// Whether the status allows a body (RFC 9110, section 6.4.1).
    var mayHaveBody: Bool { status >= 200 && status != 204 && status != 304 }
}

extension ByteBuffer {
    /// Writes a header line. Control characters, which could end the line early, become spaces; an invalid name drops the field.
    fileprivate mutating func write(_ field: HTTPField) {
        guard field.name.isToken else { return }
        writeString(field.name)
        writeString(": ")
        if field.value.utf8.allSatisfy(\.isFieldValueCharacter) {
            writeString(field.value)
        } else {
            writeBytes(field.value.utf8.map { $0.isFieldValueCharacter ? $0 : UInt8(ascii: " ") })
        }
        writeString("\r\n")
    }
}
