// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A random text that opens the console to its holder.
struct Token: Sendable {
    /// The text.
    let text: String

    /// A token of so many random bytes.
    init() {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_".utf8)
        // Six bits a character: 43 of them hold 32 bytes.
        text = String(decoding: (0..<43).map { _ in digits[Int(generator.next() & 63)] }, as: UTF8.self)
    }

    /// Whether two texts are the same, in a time that does not tell where they differ.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
