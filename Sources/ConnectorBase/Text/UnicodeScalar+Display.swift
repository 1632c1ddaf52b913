// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether a character steers a display instead of printing: control characters (C0, DEL, C1), line and paragraph
    /// separators, characters that change the direction of writing (Unicode's `Bidi_Control`), and tags, which hide a text from
    /// people and not from programs.
    package var steersDisplay: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069,
            0xE0000...0xE007F:
            true
        default: false
        }
    }

    /// Whether a character has no glyph of its own: it steers the display, or displays ignore it (Unicode's
    /// `Default_Ignorable_Code_Point`).
    var lacksGlyph: Bool {
        steersDisplay || value >= 0xAD && properties.isDefaultIgnorableCodePoint
    }

    /// Whether a character without a glyph of its own is seen by its neighbors, which it joins or whose form it selects (Unicode, 23.2
    /// and 23.4).
    ///
    /// - Parameters:
    ///   - previous: The character before it, if that can be seen.
    ///   - next: The character after it.
    func shapes(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
        guard let previous else { return false }
        switch value {
        case 0x200C: return previous.isJoinable && next?.isJoinable == true
        case 0x200D:
            let endsPicture = previous.isPicture || previous == "\u{FE0F}"
            return previous.isJoinable || endsPicture && next?.isPicture == true
        case 0x180B...0x180F: return (0x1820...0x18AA).contains(previous.value)
        case 0xFE00...0xFE0D, 0xE0100...0xE01EF: return previous.properties.isIdeographic
        case 0xFE0E, 0xFE0F:
            let beginsKeycap = previous.isASCII && previous.properties.isEmoji && next == "\u{20E3}"
            return previous.isPicture || beginsKeycap
        default: return false
        }
    }

    /// Whether this is an emoji, other than the digits and signs of keycaps.
    private var isPicture: Bool { !isASCII && properties.isEmoji }

    /// Whether joiners change the form of this character: those of Hebrew and Arabic, and of scripts of Africa and Asia, but not of
    /// Latin, Greek, Cyrillic, Chinese, Japanese and Korean.
    private var isJoinable: Bool {
        switch value {
        case 0x0590..<0x1100, 0x1200..<0x1D00, 0xA800..<0xAC00, 0xFB1D..<0xFE00, 0xFE70..<0xFEFF, 0x10A00..<0x12000:
            true
        default: false
        }
    }
}
