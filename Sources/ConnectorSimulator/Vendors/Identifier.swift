// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Generates ids for stored objects, as vendors do.
enum Identifier {
    /// A random UUID in lower case (RFC 9562, version 4).
    static func uuid() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.hexadecimal
        return [
            digits.prefix(8), digits.dropFirst(8).prefix(4), digits.dropFirst(12).prefix(4),
            digits.dropFirst(16).prefix(4), digits.dropFirst(20),
        ].joined(separator: "-")
    }

    /// Random letters and digits.
    static func alphanumeric(_ count: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let characters = (0..<count).map { _ in alphabet[Int.random(in: alphabet.indices)] }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Whether `text` consists of exactly `count` hexadecimal digits.
    static func isHexadecimal(_ text: String, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { $0.hexDigitValue != nil }
    }
}
