// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A content encoding of requests and responses (RFC 9110, section 8.4).
package enum ContentCoding: String, Sendable {
    /// RFC 1952; one or several members.
    case gzip
    /// RFC 1950 (zlib), or a bare RFC 1951 stream, which some clients send under the same name.
    case deflate
    /// RFC 7932; only for requests to the simulators, because its library may be absent.
    case brotli = "br"
    /// Not encoded.
    case identity

    /// The maximum number of codings of one body: a short list of names can cost a minute of decoding. curl has the same limit.
    package static let countLimit = 5

    /// Reads one name of `Content-Encoding`, without blanks; `nil` for unsupported ones, such as `zstd`, and for ``brotli``.
    package init?(name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "identity", "": self = .identity
        default: return nil
        }
    }

    /// Decodes `bytes`. Like gzip(1), it ignores bytes after the last gzip member.
    ///
    /// - Parameter limit: The maximum size of the output, in bytes: a kilobyte can expand to a megabyte.
    package func decode(_ bytes: [UInt8], limit: Int) throws(InflateError) -> [UInt8] {
        switch self {
        case .gzip:
            var output: [UInt8] = []
            var rest = bytes[...]
            repeat {
                output += try Inflate.run(&rest, .gzip, limit: limit - output.count)
            } while rest.starts(with: [0x1F, 0x8B])
            return output
        case .deflate:
            guard bytes.count >= 2 else { throw .truncated }
            let isZlib = bytes[0] & 0x0F == 8 && (UInt16(bytes[0]) << 8 | UInt16(bytes[1])) % 31 == 0
            var rest = bytes[...]
            return try Inflate.run(&rest, isZlib ? .zlib : .bare, limit: limit)
        case .brotli:
            guard let decoder = BrotliDecoder.installed else { throw .unavailable }
            return try decoder.run(bytes, limit: limit)
        case .identity:
            guard bytes.count <= limit else { throw .tooLarge }
            return bytes
        }
    }
}
