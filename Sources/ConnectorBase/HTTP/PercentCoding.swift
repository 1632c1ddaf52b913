// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding, as URLs and HTML forms use it (RFC 3986, section 2.1).
package enum PercentCoding {
    /// Encodes every byte that is not unreserved, so the result is safe anywhere in a URL.
    package static func encode(_ text: some StringProtocol) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 { encoded.append(percentEncoding: byte) }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes text strictly; nil if a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
    ///
    /// - Parameter plusIsSpace: True in queries and forms, where `+` stands for a space.
    package static func text(_ encoded: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        bytes(encoded, plusIsSpace: plusIsSpace, keepsStrays: false).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes text leniently: keeps a stray `%`, and repairs invalid UTF-8.
    ///
    /// - Parameter plusIsSpace: True in queries and forms, where `+` stands for a space.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        String(decoding: bytes(text, plusIsSpace: plusIsSpace, keepsStrays: true) ?? [], as: UTF8.self)
    }

    private static func bytes(_ text: some StringProtocol, plusIsSpace: Bool, keepsStrays: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.utf8.count)
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                let digits = rest.prefix(2).compactMap(\.hexDigitValue)
                if digits.count == 2 {
                    decoded.append(digits[0] << 4 | digits[1])
                    rest = rest.dropFirst(2)
                    continue
                }
                guard keepsStrays else { return nil }
            }
            decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
        return decoded
    }
}

extension [UInt8] {
    /// Adds an unreserved byte as it is, and any other as `%XX`.
    package mutating func append(percentEncoding byte: UInt8) {
        if byte.isUnreserved { append(byte) } else { append(percentEscaping: byte) }
    }

    /// Adds `%XX`, in upper case, as RFC 3986 recommends for producers.
    package mutating func append(percentEscaping byte: UInt8) {
        append(UInt8(ascii: "%"))
        append(hexadecimal: byte, uppercase: true)
    }
}
