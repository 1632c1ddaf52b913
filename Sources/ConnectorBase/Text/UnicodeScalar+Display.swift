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

    /// Whether a character cannot be seen as it is: it steers the display, or it has no width and joins no others, so that two texts
    /// look the same. Not U+200C and U+200D, which scripts and pictures need.
    package var isHidden: Bool {
        switch value {
        case 0xAD, 0x200B, 0x2060...0x2064, 0xFEFF: true
        default: steersDisplay
        }
    }
}
