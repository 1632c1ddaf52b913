// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A signature of minisign(1), as its file `NAME.minisig` contains it.
///
/// ```
/// untrusted comment: anything
/// Base64 of the algorithm, the key's id and the signature
/// trusted comment: anything
/// Base64 of the signature of the signature and the trusted comment
/// ```
package struct MinisignSignature: Sendable, Hashable {
    /// The key that made it.
    package let keyID: MinisignKey.ID
    /// The comment that the key signed, too.
    package let trustedComment: String
    /// Whether the BLAKE2b digest was signed, not the content itself.
    private let isPrehashed: Bool
    private let signature: [UInt8]
    private let globalSignature: [UInt8]

    /// The greatest size of the file, in bytes; minisign's own limits of the comments are 1 and 8 KiB.
    package static let sizeLimit = 16 << 10

    /// Reads the content of a file.
    ///
    /// - Throws: `syntax`, with line and column.
    package init(parsing bytes: [UInt8], file: String) throws(ConnectorError) {
        func fault(_ line: Int, _ message: String, column: Int = 1) -> ConnectorError {
            ConnectorError(
                .syntax,
                "the signature \(message)",
                fix: "sign the file again: minisign -S -m FILE",
                position: FilePosition(file: file, line: line, column: column)
            )
        }
        guard bytes.count <= Self.sizeLimit else { throw fault(1, "has more than \(Self.sizeLimit >> 10) KiB") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault(1, "is not UTF-8 text") }
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line))
        }
        if lines.last == "" { lines.removeLast() }
        guard lines.count == 4 else { throw fault(max(1, min(lines.count, 5)), "has \(lines.count) lines, not 4") }
        guard lines[0].hasPrefix("untrusted comment: ") else {
            throw fault(1, "does not begin with \"untrusted comment: \"")
        }
        guard let signed = Base64.decode(lines[1]), signed.count == 74 else {
            throw fault(2, "is not Base64 of 74 bytes")
        }
        switch (signed[0], signed[1]) {
        case (UInt8(ascii: "E"), UInt8(ascii: "d")): isPrehashed = false
        case (UInt8(ascii: "E"), UInt8(ascii: "D")): isPrehashed = true
        default: throw fault(2, "has an algorithm other than Ed25519")
        }
        let prefix = "trusted comment: "
        guard lines[2].hasPrefix(prefix) else { throw fault(3, "has no trusted comment in its third line") }
        guard let global = Base64.decode(lines[3]), global.count == Ed25519.signatureSize else {
            throw fault(4, "of the trusted comment is not Base64 of \(Ed25519.signatureSize) bytes")
        }
        keyID = MinisignKey.ID(signed[2..<10])
        signature = Array(signed[10...])
        trustedComment = String(lines[2].dropFirst(prefix.count))
        globalSignature = global
    }

    /// What a key has signed, of a content and the trusted comment.
    package enum Verdict: Sendable {
        /// Both.
        case valid
        /// The content alone: the comment, or the signature over it, was changed.
        case otherComment
        /// Not this content.
        case otherContent
    }

    /// Whether a key made this signature, and for what.
    package func verdict(for content: UnsafeRawBufferPointer, _ key: MinisignKey) -> Verdict {
        guard key.id == keyID else { return .otherContent }
        let isSigned =
            if isPrehashed {
                unsafe BLAKE2b.digest(of: content).withUnsafeBytes {
                    unsafe Ed25519.isValid(signature, of: $0, key: key.bytes)
                }
            } else {
                unsafe Ed25519.isValid(signature, of: content, key: key.bytes)
            }
        guard isSigned else { return .otherContent }
        let isWhole = unsafe (signature + Array(trustedComment.utf8)).withUnsafeBytes {
            unsafe Ed25519.isValid(globalSignature, of: $0, key: key.bytes)
        }
        return isWhole ? .valid : .otherComment
    }
}
