// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CZlib
package import ConnectorBase
package import ConnectorPlatform

/// Writes gzip (RFC 1952) by the system's zlib; ``ContentCoding`` reads it.
package enum Gzip {
    /// Compresses, at zlib's fastest level: of batches of events it makes a sixth, in three fifths of the usual level's time,
    /// which makes a seventh.
    package static func compress(_ bytes: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        let status = unsafe deflateInit2_(
            &stream,
            Z_BEST_SPEED,
            Z_DEFLATED,
            // The whole window, in gzip's frame.
            15 + 16,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            size
        )
        guard status == Z_OK else { throw .invalid("the request's body cannot be compressed (zlib \(status))") }
        defer { unsafe deflateEnd(&stream) }
        let bound = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
        var end = Z_OK
        var input = bytes
        let output = unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = UInt32(clamping: input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(clamping: bound)
                end = unsafe deflate(&stream, Z_FINISH)
                count = unsafe bound - Int(stream.avail_out)
            }
        }
        guard end == Z_STREAM_END else { throw .invalid("the request's body cannot be compressed (zlib \(end))") }
        return output
    }
}

extension HTTPResponse {
    /// The content coding of the body that the host decodes; nil if it has none.
    package var contentCoding: ContentCoding? {
        guard !body.isEmpty, let coding = headers["Content-Encoding"].flatMap(ContentCoding.init(name:)) else {
            return nil
        }
        return coding == .identity ? nil : coding
    }

    /// The response with its body decoded, without the fields that described the encoded one.
    package func decoded(_ coding: ContentCoding, limit: Int) throws(ServiceFailure) -> HTTPResponse {
        var reply = self
        do throws(InflateError) {
            reply.body = try coding.decode(body, limit: limit)
        } catch .tooLarge {
            throw .tooLarge("the response has more than \(limit) bytes when it is decompressed")
        } catch {
            throw .violation("the response's body is not what its Content-Encoding says")
        }
        reply.headers.remove("Content-Encoding")
        reply.headers.remove("Content-Length")
        return reply
    }
}
