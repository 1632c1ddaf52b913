// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds the bytes of a text that JSON must escape, eight at a time: most of an event is text.
///
/// A word holds eight bytes. Taking one from each byte sets the top bit of those that were smaller than it, unless that bit
/// was set before; a borrow can mark a byte too many, but only above one that is marked rightly. (`SIMD16` did the same in
/// ten times the time: the compiler does not specialise it.)
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

    /// Whether a text is ASCII that can be shown, and needs no escapes: most texts are, and are copied whole.
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

    /// Not zero if a byte of a word is special.
    private static func special(_ word: UInt64) -> UInt64 {
        (word &- 0x20 * ones) & ~word & tops | zeros(word ^ 0x22 * ones) | zeros(word ^ 0x5C * ones)
    }

    /// Not zero if a byte of a word is zero.
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }

    /// Eight bytes; nil if there are fewer.
    private static func word(of text: Span<UInt8>, at index: Int) -> UInt64? {
        guard index + 8 <= text.count else { return nil }
        // The bytes are within the text.
        return unsafe text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
    }
}
