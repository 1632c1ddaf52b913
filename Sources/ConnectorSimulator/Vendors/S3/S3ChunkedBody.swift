// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Takes a body of the encoding `aws-chunked` apart: chunks, each after a line with its size, and trailer fields after the last.
///
/// Source: "Signature Calculations for the Authorization Header: Transferring Payload in Multiple Chunks" of the API reference.
struct S3ChunkedBody {
    /// Signs a chunk or the trailer, given the kind (`PAYLOAD`, `TRAILER`), the previous signature and the bytes.
    typealias Signer = (_ kind: String, _ previous: String, _ bytes: [UInt8]) -> String

    /// The chunks' bytes.
    private(set) var content: [UInt8] = []
    /// The fields after the last chunk.
    private(set) var trailers = HTTPFields()
    /// What has not been read.
    private var rest: ArraySlice<UInt8>

    /// Takes a body apart.
    ///
    /// - Parameters:
    ///   - seed: The signature of the request, on which that of the first chunk depends.
    ///   - signer: Computes the signatures that the chunks must have; nil if they have none.
    init(_ body: [UInt8], seed: String, signer: Signer?) throws(S3Failure) {
        rest = body[...]
        var signature = seed
        var chunk: ArraySlice<UInt8>
        repeat {
            let head = try line().split(ascii: ";", maxSplits: 1)
            guard let size = head.first.flatMap({ Int($0, radix: 16) }), (0...rest.count).contains(size) else {
                throw .incompleteBody
            }
            chunk = rest.prefix(size)
            rest = rest.dropFirst(size)
            if let signer {
                signature = signer("PAYLOAD", signature, Array(chunk))
                guard head.last == "chunk-signature=\(signature)" else { throw .signatureDoesNotMatch }
            }
            content += chunk
            if size > 0, try !line().isEmpty { throw .incompleteBody }
        } while !chunk.isEmpty
        try readTrailers(signature, signer)
    }

    /// Reads the fields after the last chunk; throws unless they have their signature.
    private mutating func readTrailers(_ previous: String, _ signer: Signer?) throws(S3Failure) {
        var signature: String?
        while !rest.isEmpty {
            let field = try line().split(ascii: ":", maxSplits: 1).map { $0.trimmingBlanks() }
            guard field.count == 2 else { continue }
            if field[0] == "x-amz-trailer-signature" {
                signature = field[1]
            } else {
                trailers.append(field[0], field[1])
            }
        }
        guard let signer, !trailers.fields.isEmpty else { return }
        let signed = trailers.map { "\($0.name.lowercased()):\($0.value)\n" }.joined()
        guard signature == signer("TRAILER", previous, Array(signed.utf8)) else { throw .signatureDoesNotMatch }
    }

    /// Reads a line, and drops its end.
    private mutating func line() throws(S3Failure) -> String {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { throw .incompleteBody }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self).trimmingBlanks()
    }
}
