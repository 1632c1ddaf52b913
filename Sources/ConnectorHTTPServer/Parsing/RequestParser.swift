// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import NIOCore

/// An incremental parser of HTTP/1.1 requests (RFC 9112), which yields one event at a time.
///
/// It does no I/O. Where the standard lets recipients interpret a request in several ways, it refuses the request: two recipients
/// that chose differently would see different requests in the same bytes (request smuggling).
package struct RequestParser: Sendable {
    /// The next part of a request.
    package enum Event: Sendable, Hashable {
        /// The request line and the header fields.
        case head(ServerRequest)
        /// A part of the body.
        case body(ByteBuffer)
        /// The end of the request.
        case end
    }

    /// The part of a request to parse next.
    private enum State {
        case line
        case fields
        case body(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case end
    }

    /// How the end of a body is marked.
    enum Framing: Hashable {
        case length(Int)
        case chunked
    }

    private let limits: ServerLimits
    private var state = State.line
    /// The number of bytes at the front of the input that are known to contain no line end.
    private var scanned = 0
    /// The bytes still allowed for the head, or for chunk extensions and trailers.
    private var budget: Int
    private var hasSkippedLine = false
    private var request = ServerRequest("", "")

    /// Creates the parser of a connection.
    package init(_ limits: ServerLimits) {
        self.limits = limits
        budget = limits.head
    }

    /// Whether no byte of the next request has been seen.
    package var isBetweenRequests: Bool { if case .line = state { scanned == 0 } else { false } }

    /// Consumes the next event from the front of the input.
    ///
    /// - Returns: Nil if more bytes are needed.
    /// - Throws: The violation; the connection cannot be parsed any further.
    package mutating func next(_ input: inout ByteBuffer) throws(RequestFault) -> Event? {
        while true {
            switch state {
            case .line:
                // The client waits for an answer, and may send no line end before.
                if input.readableBytesView.first == Self.firstByteOfTLS { throw Self.unexpectedTLS }
                guard let line = try line(&input) else { return nil }
                if line.isEmpty, !hasSkippedLine {
                    // Some old clients send an extra line end after a body (RFC 9112, section 2.2).
                    hasSkippedLine = true
                    continue
                }
                request = try ServerRequest(line: line)
                state = .fields
            case .fields:
                guard let line = try line(&input) else { return nil }
                guard line.isEmpty else {
                    guard request.fields.fields.count < limits.fields else { throw Self.tooLarge }
                    request.fields.fields.append(try HTTPField(line: line))
                    continue
                }
                return .head(try finishHead())
            case .body(let left):
                guard let part = Self.part(of: &input, left) else { return nil }
                state = part.readableBytes == left ? .end : .body(left: left - part.readableBytes)
                return .body(part)
            case .chunkSize:
                guard let line = try line(&input) else { return nil }
                let (size, digits) = try Self.chunkSize(line)
                // Only the extensions count against the budget, not the size and the line end.
                budget += digits + 2
                state = size == 0 ? .trailers : .chunk(left: size)
            case .chunk(let left):
                guard let part = Self.part(of: &input, left) else { return nil }
                state = part.readableBytes == left ? .chunkEnd : .chunk(left: left - part.readableBytes)
                return .body(part)
            case .chunkEnd:
                guard let line = try line(&input) else { return nil }
                guard line.isEmpty else { throw RequestFault("a chunk is longer than its size") }
                budget += 2
                state = .chunkSize
            case .trailers:
                guard let line = try line(&input) else { return nil }
                // Trailer fields are only parsed to find their end, and then ignored.
                guard line.isEmpty else {
                    _ = try HTTPField(line: line)
                    continue
                }
                state = .end
            case .end:
                state = .line
                budget = limits.head
                hasSkippedLine = false
                return .end
            }
        }
    }

    private mutating func finishHead() throws(RequestFault) -> ServerRequest {
        let framing = try request.framing()
        try request.shortenTarget()
        switch framing {
        case .length(0): state = .end
        case .length(let count): state = .body(left: count)
        case .chunked:
            state = .chunkSize
            budget = limits.chunkOverhead
        }
        request.hasBody = framing != .length(0)
        defer { request = ServerRequest("", "") }
        return request
    }

    /// Consumes a line and returns it without its end.
    ///
    /// - Returns: Nil if the end has not arrived.
    private mutating func line(_ input: inout ByteBuffer) throws(RequestFault) -> [UInt8]? {
        let rest = input.readableBytesView.dropFirst(scanned)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = input.readableBytes
            guard scanned <= budget else { throw Self.tooLarge }
            return nil
        }
        let count = end - input.readerIndex + 1
        guard count <= budget, var line = input.readBytes(length: count) else { throw Self.tooLarge }
        budget -= count
        scanned = 0
        line.removeLast()
        guard line.popLast() == UInt8(ascii: "\r") else { throw RequestFault("a line ends without a carriage return") }
        return line
    }

    /// Consumes at most `left` bytes; nil if the input is empty.
    private static func part(of input: inout ByteBuffer, _ left: Int) -> ByteBuffer? {
        let count = min(left, input.readableBytes)
        return count > 0 ? input.readSlice(length: count) : nil
    }

    /// Parses the line before a chunk: the size of the chunk in bytes, and the number of its digits.
    private static func chunkSize(_ line: [UInt8]) throws(RequestFault) -> (size: Int, digits: Int) {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && !$0.isBlank }
        let rest = line.dropFirst(digits.count).drop(while: \.isBlank)
        guard (1...15).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";"),
            rest.allSatisfy(\.isFieldValueCharacter)
        else { throw RequestFault("a chunk has no valid size") }
        var size = 0
        for digit in digits {
            guard let value = digit.hexDigitValue else { throw RequestFault("a chunk has no valid size") }
            // Fifteen digits are 60 bits.
            size = size << 4 | Int(value)
        }
        return (size, digits.count)
    }

    /// The first byte of a TLS handshake (RFC 8446, section 5.1), which no request begins with.
    private static let firstByteOfTLS: UInt8 = 22
    private static let unexpectedTLS = RequestFault("this server speaks no TLS: the URL must begin with http://")
    private static let tooLarge = RequestFault(431, "the header fields, chunk extensions or trailers are too large")
}
