// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The character classes of HTTP and URLs.
extension UInt8 {
    /// Whether a token, such as a method or a field name, may contain this (RFC 9110, section 5.6.2).
    package var isTokenCharacter: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// Whether a field value may contain this: no control character but the tab (RFC 9110, section 5.5).
    package var isFieldValueCharacter: Bool { self >= 0x20 && self != 0x7F || self == 0x09 }

    /// Whether this needs no encoding anywhere in a URL: letters, digits and `-._~` (RFC 3986, section 2.3).
    package var isUnreserved: Bool { isLetterOrDigit || "-._~".utf8.contains(self) }
}

extension StringProtocol {
    /// Whether this is a token (RFC 9110, section 5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }
}
