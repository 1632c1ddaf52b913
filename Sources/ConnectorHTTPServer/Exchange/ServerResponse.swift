// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import NIOCore
internal import NIOHTTP1

/// An answer, as a server sends it.
package struct ServerResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The header fields, without those that describe the framing.
    package var fields: HTTPFields
    /// What follows them.
    package var body: Body
    /// Whether the connection ends with it.
    package var isLast: Bool

    /// What follows the header fields.
    package enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Part after part, until the function returns. It is not called for HEAD.
        case stream(@Sendable (BodyWriter) async throws -> Void)
        /// Half of it, under the length of the whole, and then the end of the connection.
        case truncated([UInt8])
        /// Nothing, not even the header: the connection is reset.
        case reset
    }

    /// An answer with a body, which may be empty.
    package init(status: Int, _ fields: HTTPFields = [:], _ body: Body = .bytes([]), isLast: Bool = false) {
        self.status = status
        self.fields = fields
        self.body = body
        self.isLast = isLast
    }

    /// Refuses a request that breaks a rule.
    init(_ fault: RequestFault) {
        self.init(
            status: fault.status,
            ["Content-Type": "text/plain; charset=utf-8"],
            .bytes(Array("\(fault.reason)\n".utf8)),
            isLast: true
        )
    }

    /// How the client finds the end of the body.
    enum Framing: Hashable {
        /// By its length.
        case length(Int)
        /// By the last chunk.
        case chunked
        /// By the end of the connection, or there is no body.
        case none
    }

    /// The lines of header fields.
    static func lines(_ fields: HTTPFields) -> ByteBuffer {
        var lines = ByteBuffer()
        for field in fields { lines.write(field) }
        return lines
    }

    /// The first line and the header fields.
    ///
    /// - Parameter common: The lines that every answer of the server has.
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
    /// Writes a line of a header. What would end the line early becomes a space.
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
