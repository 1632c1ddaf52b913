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
}
