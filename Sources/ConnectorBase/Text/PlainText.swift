// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds the bytes of a text that JSON must escape, eight bytes at a time: most of an event is text.
///
/// A word holds eight bytes. Subtracting a constant from every byte sets the top bit of each byte that was smaller,
/// unless that bit was already set. A borrow can mark a byte wrongly, but only one above a byte that is marked
/// correctly. (`SIMD16` takes ten times as long, because the compiler does not specialize it.)
enum PlainText {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// The index of the next control character, quotation mark or backslash; the end if there is none.
    static func special(in text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while let word = word(of: text, at: index), special(word) == 0 { index += 8 }
        while index < text.count, !isSpecial(text[index]) { index += 1 }
        return index
    }

    /// Whether a text is printable ASCII that needs no escapes; most texts are, and are copied whole.
    static func isPlain(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while let word = word(of: text, at: index) {
            guard (special(word) | word & tops | zeros(word ^ 0x7F * ones)) == 0 else { return false }
            index += 8
        }
        while index < text.count {
            guard !isSpecial(text[index]), text[index] < 0x7F else { return false }
            index += 1
        }
        return true
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Nonzero if a byte of the word is special.
    private static func special(_ word: UInt64) -> UInt64 {
        (word &- 0x20 * ones) & ~word & tops | zeros(word ^ 0x22 * ones) | zeros(word ^ 0x5C * ones)
    }

    /// Nonzero if a byte of the word is zero.
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }

    /// Eight bytes; nil if there are fewer.
    private static func word(of text: Span<UInt8>, at index: Int) -> UInt64? {
        guard index + 8 <= text.count else { return nil }
        // The guard proves that the bytes are within the text.
        return unsafe text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
    }
}
