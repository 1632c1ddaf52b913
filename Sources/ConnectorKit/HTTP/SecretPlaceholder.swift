// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A stand-in for a secret configuration field, whose value the host inserts as it sends a request.
///
/// A plugin never sees the value. Write the placeholder into a URL, a header's value, or a body that is not sent
/// verbatim; see `connector/services/http.h`.
public struct SecretPlaceholder: Sendable, Hashable, CustomStringConvertible {
    /// The text that the host replaces.
    public var text: String

    /// The placeholder of a field that the manifest declares `"secret": true`.
    public init(field name: String) {
        text = "{{secret:\(name)}}"
    }

    /// The text that the host replaces.
    public var description: String { text }

    /// The value of an `Authorization` header for HTTP Basic authentication (RFC 7617), encoded by the host.
    public static func basicCredentials(user: String, password: String) -> String {
        "Basic {{base64:\(user):\(password)}}"
    }

    /// Text that the host replaces with the SHA-256 of `text`, in hexadecimal, after inserting the secrets.
    ///
    /// - Parameter text: Text and placeholders of secrets, without `}}`.
    public static func sha256(of text: String) -> String {
        "{{sha256:\(text)}}"
    }

    /// Text that the host replaces with an authentication code in hexadecimal (HMAC-SHA256, RFC 2104).
    ///
    /// The codes form a chain: `key` is the key of the first text's code, each code is the key for the next text, and
    /// the last code is the result.
    ///
    /// - Parameters:
    ///   - texts: One to 15 texts without `|` and `}}`, with placeholders of secrets and of digests.
    ///   - key: Text and placeholders of secrets, without `|` and `}}`.
    public static func hmacSHA256(of texts: String..., key: String) -> String {
        "{{hmac-sha256:\(([key] + texts).joined(separator: "|"))}}"
    }
}
