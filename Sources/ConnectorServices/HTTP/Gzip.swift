// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CZlib
package import ConnectorManifest

/// gzip (RFC 1952) by the system's zlib, which the HTTP client links anyway.
package enum Gzip {
    /// zlib's window bits: 15 for the whole window, plus 16 for gzip's frame, or plus 32 to detect gzip's or zlib's.
    private enum WindowBits {
        static let gzip: Int32 = 15 + 16
        static let either: Int32 = 15 + 32
    }

    /// Compresses, at zlib's fastest level: of batches of events it makes a sixth, in three fifths of the usual level's time,
    /// which makes a seventh.
    package static func compress(_ bytes: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        let status = unsafe deflateInit2_(
            &stream,
            Z_BEST_SPEED,
            Z_DEFLATED,
            WindowBits.gzip,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            size
        )
        guard status == Z_OK else { throw .invalid("the request's body cannot be compressed (zlib \(status))") }
        defer { unsafe deflateEnd(&stream) }
        let bound = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
        let (output, end) = unsafe run(&stream, input: bytes, capacity: bound) { unsafe deflate($0, Z_FINISH) }
        guard end == Z_STREAM_END else { throw .invalid("the request's body cannot be compressed (zlib \(end))") }
        return output
    }

    /// Decompresses gzip, or deflate as HTTP means it (RFC 9110, section 8.4.1.2: zlib's frame).
    ///
    /// - Parameter limit: The maximum size of the output: a kilobyte can expand to a megabyte.
    package static func decompress(_ bytes: [UInt8], limit: Int) throws(ServiceFailure) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, WindowBits.either, ZLIB_VERSION, size) == Z_OK else {
            throw .violation("the response's body cannot be decompressed")
        }
        defer { unsafe inflateEnd(&stream) }
        var output: [UInt8] = []
        var input = bytes[...]
        while true {
            // Grows with the output. One byte above the limit proves that it is too large.
            let room = min(max(4096, 4 * bytes.count, output.count), limit + 1 - output.count)
            let before = input.count
            let (piece, status) = unsafe run(&stream, input: Array(input), capacity: room) {
                unsafe inflate($0, Z_NO_FLUSH)
            }
            output += piece
            input = unsafe input.suffix(Int(stream.avail_in))
            guard output.count <= limit else {
                throw .tooLarge("the response has more than \(limit) bytes when it is decompressed")
            }
            if status == Z_STREAM_END { return output }
            guard status == Z_OK, !piece.isEmpty || input.count < before else {
                throw .violation("the response's body is not what its Content-Encoding says")
            }
        }
    }

    private static func run(
        _ stream: inout z_stream,
        input: [UInt8],
        capacity: Int,
        _ step: (UnsafeMutablePointer<z_stream>) -> Int32
    ) -> (output: [UInt8], status: Int32) {
        var status = Z_OK
        var input = input
        let output = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = UInt32(clamping: input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(clamping: capacity)
                status = unsafe step(&stream)
                count = unsafe capacity - Int(stream.avail_out)
            }
        }
        return (output, status)
    }
}

extension HTTPResponse {
    /// Whether the body has a content coding that the host decodes.
    package var isCompressed: Bool {
        guard !body.isEmpty, let coding = headers["Content-Encoding"]?.lowercased() else { return false }
        return ["gzip", "x-gzip", "deflate"].contains(coding)
    }

    /// The response with its body decompressed, without the fields that described the compressed one.
    package func decompressed(limit: Int) throws(ServiceFailure) -> HTTPResponse {
        guard isCompressed else { return self }
        var reply = self
        reply.body = try Gzip.decompress(body, limit: limit)
        reply.headers.remove("Content-Encoding")
        reply.headers.remove("Content-Length")
        return reply
    }
}
