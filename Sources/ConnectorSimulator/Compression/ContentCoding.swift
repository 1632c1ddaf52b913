// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A content encoding that vendors' clients use on what they send.
package enum ContentCoding: String, Sendable {
    /// RFC 1952; one or several members.
    case gzip
    /// RFC 1950 (zlib), or a bare RFC 1951 stream, which some clients send under the same name.
    case deflate
    /// Not encoded.
    case identity

    /// Reads one name of `Content-Encoding`; `nil` for those that are not served here, such as `br` and `zstd`.
    package init?(name: some StringProtocol) {
        switch name.trimmingBlanks().lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "identity", "": self = .identity
        default: return nil
        }
    }

    /// Takes the encoding off `bytes`.
    ///
    /// - Parameter limit: the most bytes that may come out.
    package func decode(_ bytes: [UInt8], limit: Int) throws(InflateError) -> [UInt8] {
        switch self {
        case .gzip: return try Self.gunzip(bytes, limit: limit)
        case .deflate: return try Self.uncompress(bytes, limit: limit)
        case .identity:
            guard bytes.count <= limit else { throw .tooLarge }
            return bytes
        }
    }

    /// Reads every member of a gzip file and checks each one's checksum and length.
    private static func gunzip(_ bytes: [UInt8], limit: Int) throws(InflateError) -> [UInt8] {
        var output: [UInt8] = []
        var position = 0
        repeat {
            var inflate = Inflate(bytes, from: try endOfHeader(bytes, from: position), limit: limit - output.count)
            try inflate.run()
            var trailer = inflate.reader
            let expected = try trailer.bits(16) | (try trailer.bits(16)) << 16
            let length = try trailer.bits(16) | (try trailer.bits(16)) << 16
            guard Checksum.crc32(inflate.output) == UInt32(truncatingIfNeeded: expected),
                UInt32(truncatingIfNeeded: inflate.output.count) == UInt32(truncatingIfNeeded: length)
            else { throw .corrupt }
            output += inflate.output
            position = trailer.position
        } while position < bytes.count
        return output
    }

    /// Skips the header of a gzip member (RFC 1952, section 2.3) and returns where the compressed data begins.
    private static func endOfHeader(_ bytes: [UInt8], from start: Int) throws(InflateError) -> Int {
        guard bytes.count - start >= 10 else { throw .truncated }
        guard bytes[start] == 0x1F, bytes[start + 1] == 0x8B, bytes[start + 2] == 8 else { throw .corrupt }
        let flags = bytes[start + 3]
        var position = start + 10
        if flags & 0x04 != 0 {
            guard bytes.count - position >= 2 else { throw .truncated }
            position += 2 + Int(bytes[position]) + Int(bytes[position + 1]) << 8
        }
        for flag: UInt8 in [0x08, 0x10] where flags & flag != 0 {
            guard position < bytes.count, let end = bytes[position...].firstIndex(of: 0) else { throw .truncated }
            position = end + 1
        }
        if flags & 0x02 != 0 { position += 2 }
        guard position < bytes.count else { throw .truncated }
        return position
    }

    /// Reads a zlib stream, or a bare one where the two header bytes cannot be zlib's.
    private static func uncompress(_ bytes: [UInt8], limit: Int) throws(InflateError) -> [UInt8] {
        guard bytes.count >= 2 else { throw .truncated }
        let isZlib = bytes[0] & 0x0F == 8 && (UInt16(bytes[0]) << 8 | UInt16(bytes[1])) % 31 == 0
        var inflate = Inflate(bytes, from: isZlib ? 2 : 0, limit: limit)
        try inflate.run()
        guard isZlib else { return inflate.output }
        let expected = try inflate.checksum()
        guard Checksum.adler32(inflate.output) == expected else { throw .corrupt }
        return inflate.output
    }
}

extension Inflate {
    /// The four bytes behind the stream, highest first, as zlib ends.
    func checksum() throws(InflateError) -> UInt32 {
        var trailer = reader
        return try trailer.bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
