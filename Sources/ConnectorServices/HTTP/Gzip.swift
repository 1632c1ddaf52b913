// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CZlib
package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform

/// Compresses to gzip (RFC 1952) with the system's zlib; ``ContentCoding`` decompresses.
package enum Gzip {
    /// Compresses at zlib's fastest level, which shrinks batches of events to a sixth. The default level shrinks them
    /// to a seventh, and takes two thirds longer.
    package static func compress(_ bytes: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(ServiceFailure) -> [UInt8] in
            try unsafe compress(bytes)
        }
    }

    /// Compresses memory that a plugin lends.
    package static func compress(_ bytes: UnsafeBufferPointer<UInt8>) throws(ServiceFailure) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        let status = unsafe deflateInit2_(
            &stream,
            Z_BEST_SPEED,
            Z_DEFLATED,
            // The largest window (15), with gzip framing (16).
            15 + 16,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            size
        )
        guard status == Z_OK else { throw .unavailable("the request's body cannot be compressed (zlib \(status))") }
        defer { unsafe deflateEnd(&stream) }
        let bound = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
        var end = Z_OK
        let output = unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            // zlib only reads it; its interface is older than `const`.
            unsafe stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.avail_in = UInt32(clamping: bytes.count)
            unsafe stream.next_out = output.baseAddress
            unsafe stream.avail_out = UInt32(clamping: bound)
            end = unsafe deflate(&stream, Z_FINISH)
            count = unsafe bound - Int(stream.avail_out)
        }
        guard end == Z_STREAM_END else { throw .unavailable("the request's body cannot be compressed (zlib \(end))") }
        return output
    }
}

extension HTTPResponse {
    /// Whether the host can decode the body, or the last of its codings. It cannot decode a part of an encoded body
    /// (206).
    package var isDecodable: Bool {
        status != 206 && !body.isEmpty && contentCodings.last.flatMap { ContentCoding(name: $0) } != nil
    }

    /// The names of the codings, in the order in which they were applied (RFC 9110, section 8.4).
    private var contentCodings: [Substring] {
        headers.filter { $0.isNamed("Content-Encoding") }
            .flatMap { $0.value.utf8.split { $0 == UInt8(ascii: ",") || $0.isBlank } }.map { Substring($0) }
    }

    /// The response with its body decoded as far as the host knows the codings; the header names only those that
    /// remain.
    package func decoded(limit: Int) throws(ServiceFailure) -> HTTPResponse {
        var reply = self
        var names = contentCodings
        guard names.count <= ContentCoding.countLimit else {
            throw .violation("the response's body has more than \(ContentCoding.countLimit) content codings")
        }
        do throws(InflateError) {
            while let name = names.last, let coding = ContentCoding(name: name) {
                reply.body = try coding.decode(reply.body, limit: limit)
                names.removeLast()
            }
        } catch .tooLarge {
            throw .response(exceeding: limit, " when decompressed")
        } catch {
            throw .violation("the response's body does not match its Content-Encoding")
        }
        reply.headers.remove("Content-Encoding")
        if !names.isEmpty { reply.headers.append("Content-Encoding", names.joined(separator: ", ")) }
        reply.headers.remove("Content-Length")
        return reply
    }
}
