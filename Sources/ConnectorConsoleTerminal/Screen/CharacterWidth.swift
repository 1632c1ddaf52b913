// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The widths of characters in a terminal, in columns.
///
/// Terminals agree on ASCII, on letters with combining marks, and on East Asian wide characters. They disagree on emoji
/// sequences, so nothing relies on the width of those: see ``ScreenWriter``.
package enum CharacterWidth {
    /// The width of a character: 0, 1 or 2.
    static func columns(of character: Character) -> Int {
        if character.utf8.count == 1 { return 1 }
        guard let first = character.unicodeScalars.first else { return 0 }
        let own = columns(of: first)
        // U+FE0F selects the emoji form of a character that also has a text form.
        return own == 1 && character.unicodeScalars.contains("\u{FE0F}") ? 2 : own
    }

    /// The width of a text, which must be the result of `displayed(isUnicode:)`.
    package static func columns(of text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    /// Whether all terminals give a character the same width.
    static func isCertain(_ character: Character) -> Bool {
        character.unicodeScalars.dropFirst().allSatisfy { columns(of: $0) == 0 && $0 != "\u{200D}" && $0 != "\u{FE0F}" }
    }

    /// The width of a character's first code point; 0 for combining marks and invisible characters.
    private static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Vowels and final consonants, which join the preceding letters to a Korean syllable.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    /// Whether a code point is wide: `W` and `F` in Unicode's EastAsianWidth.txt, which include emoji.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isEmojiPresentation { return true }
        var (low, high) = (0, wide.count)
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(scalar.value)
    }

    /// The wide ranges other than emoji, including unassigned code points between them.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}
