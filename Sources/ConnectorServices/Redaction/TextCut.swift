// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A place where a text was cut before the host received it.
enum TextCut {
    /// Cut at a mark: `…`, `...` or U+FFFD.
    case marked
    /// The text ends inside an escape.
    case unmarked

    private static let marks: [[UInt8]] = [[0xE2, 0x80, 0xA6], [0xEF, 0xBF, 0xBD], [0x2E, 0x2E, 0x2E]]

    /// The length of each mark, in bytes.
    static let markLength = 3

    /// Whether a mark begins at an index.
    static func beginsMark(at index: Int, of text: [UInt8]) -> Bool {
        guard index + markLength <= text.count, text[index] == 0x2E || text[index] == 0xE2 || text[index] == 0xEF else {
            return false
        }
        return marks.contains { text[index...].starts(with: $0) }
    }

    /// Whether the byte at an index is the last one of a mark.
    static func endsMark(at index: Int, of text: [UInt8]) -> Bool {
        guard index >= markLength - 1, text[index] == 0x2E || text[index] == 0xA6 || text[index] == 0xBD else {
            return false
        }
        return beginsMark(at: index + 1 - markLength, of: text)
    }

    /// The cut at an index, or separated from it only by the beginning of an escape; nil if there is none.
    static func before(_ index: Int, in text: [UInt8]) -> TextCut? {
        if beginsMark(at: index, of: text) { return .marked }
        guard text[index] == UInt8(ascii: "%") || text[index] == UInt8(ascii: "\\") || text[index] == UInt8(ascii: "&")
        else { return nil }
        var end = index + 1
        while end < min(text.count, index + longestEscape) {
            if beginsMark(at: end, of: text) { return .marked }
            guard text[end].isLetterOrDigit || "#%\\{".utf8.contains(text[end]) else { return nil }
            end += 1
        }
        return end == text.count ? .unmarked : nil
    }

    /// More bytes than any incomplete escape has, such as `\ud83d\ude0`.
    private static let longestEscape = 12

    /// Whether marks show that a text was cut at its beginning and at its end.
    struct Marks: Sendable {
        var before = false
        var after = false
    }

    /// The most bytes that a cut leaves of an escape: `U0000004` of `\U00000041`, `#65;` of `&#65;`.
    static let longestRemnant = 11

    /// Whether a byte may be part of an escape's remnant.
    static func isRemnant(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "#;{}".utf8.contains(byte)
    }
}
