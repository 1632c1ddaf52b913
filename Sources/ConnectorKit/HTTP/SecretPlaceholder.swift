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

    /// A text that the host replaces by its SHA-256 in hexadecimal, with the secrets in it inserted first.
    ///
    /// - Parameter text: Text and placeholders of secrets, without `}}`.
    public static func sha256(of text: String) -> String {
        "{{sha256:\(text)}}"
    }

    /// A text that the host replaces by an authentication code in hexadecimal (HMAC-SHA256, RFC 2104): that of the last
    /// text, whose key is the code of the text before it, and so on to the first, whose key is given.
    ///
    /// - Parameters:
    ///   - texts: One to 15 texts without `|` and `}}`, with placeholders of secrets and of digests.
    ///   - key: Text and placeholders of secrets, without `|` and `}}`.
    public static func hmacSHA256(of texts: String..., key: String) -> String {
        "{{hmac-sha256:\(([key] + texts).joined(separator: "|"))}}"
    }
}
