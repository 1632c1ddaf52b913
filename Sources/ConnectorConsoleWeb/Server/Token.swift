// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A random text that authenticates its holder.
struct Token: Sendable {
    /// The text.
    let text: String

    /// Creates a token of 32 bytes from the system's secure random generator.
    init() {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_".utf8)
        // A character holds six bits, so 43 of them hold 32 bytes.
        text = String(decoding: (0..<43).map { _ in digits[Int(generator.next() & 63)] }, as: UTF8.self)
    }

    /// Whether two texts are equal, compared in constant time for a given length.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
