// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// DEFLATE (RFC 1951) by the system's zlib.
enum Inflate {
    /// The framing of the compressed bytes, as zlib's `windowBits`: 15 is the largest window.
    enum Frame: Int32 {
        /// RFC 1952, with its checksum and length.
        case gzip = 31
        /// RFC 1950, with its checksum.
        case zlib = 15
        /// No framing.
        case bare = -15
    }

    /// Decompresses one stream at the start of `bytes`, and leaves the bytes after it.
    ///
    /// - Parameter limit: The most bytes of output.
    static func run(_ bytes: inout ArraySlice<UInt8>, _ frame: Frame, limit: Int) throws(InflateError) -> [UInt8] {
        guard !bytes.isEmpty else { throw .truncated }
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, frame.rawValue, ZLIB_VERSION, size) == Z_OK else { throw .corrupt }
        defer { unsafe inflateEnd(&stream) }
        var output: [UInt8] = []
        var status = Z_OK
        unsafe bytes.withUnsafeBufferPointer { input in
            // zlib only reads it; its interface is older than `const`.
            unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.avail_in = UInt32(clamping: input.count)
            repeat {
                // Starts small, because the input may have many short streams, and grows with the output. One byte above the
                // limit proves that the output is too large.
                let size = output.isEmpty ? 1 << 16 : max(4 * input.count, output.count)
                let room = min(size, limit + 1 - output.count)
                output += unsafe [UInt8](unsafeUninitializedCapacity: room) { piece, count in
                    unsafe stream.next_out = piece.baseAddress
                    unsafe stream.avail_out = UInt32(clamping: room)
                    status = unsafe inflate(&stream, Z_NO_FLUSH)
                    count = unsafe room - Int(stream.avail_out)
                }
            } while unsafe status == Z_OK && output.count <= limit && stream.avail_out == 0
        }
        guard output.count <= limit else { throw .tooLarge }
        // With room left, zlib stops before the end of a stream only for lack of input.
        guard status == Z_STREAM_END else { throw status == Z_OK || status == Z_BUF_ERROR ? .truncated : .corrupt }
        bytes = unsafe bytes.suffix(Int(stream.avail_in))
        return output
    }
}
