// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest

/// A function of texts that may contain secrets, written `{{NAME:TEXT}}`: see services/http.h.
enum SecretFunction: String, CaseIterable, Sendable {
    /// Base64 of a text.
    case base64
    /// The SHA-256 of a text, in hexadecimal.
    case sha256
    /// A chain of HMAC-SHA256 over a key and one or more texts, in hexadecimal.
    case hmac = "hmac-sha256"

    /// The bytes that begin its placeholder.
    var mark: [UInt8] {
        switch self {
        case .base64: Self.base64Mark
        case .sha256: Self.sha256Mark
        case .hmac: Self.hmacMark
        }
    }

    private static let base64Mark = Array("{{base64:".utf8)
    private static let sha256Mark = Array("{{sha256:".utf8)
    private static let hmacMark = Array("{{hmac-sha256:".utf8)

    /// How many texts the function takes.
    var arguments: ClosedRange<Int> { self == .hmac ? 2...16 : 1...1 }

    /// The value that is inserted; nil for too few or too many texts.
    func value(of texts: [[UInt8]]) -> String? {
        guard arguments.contains(texts.count), let first = texts.first else { return nil }
        switch self {
        case .base64: return Base64.encode(first)
        case .sha256:
            var hash = SHA256()
            hash.update(first)
            return hash.hexadecimal
        case .hmac:
            return texts.dropFirst().reduce(first) { HMACSHA256.code(of: $1, key: $0) }.hexadecimal
        }
    }
}
