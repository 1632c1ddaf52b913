// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A run of hexadecimal digits in either case, with or without separators.
///
/// Digits may be separated by any ASCII whitespace and punctuation, and by the prefixes `0x` and `\x`: `73 6b`,
/// `73:6B`, `0x73, 0x6b`, `=73=6B`. Any other letter ends the run, and so does a cut mark.
struct HexadecimalRuns {
    /// The values of the digits.
    private var digits: [UInt8] = []
    /// The indices of the digits in the text.
    private var places: [Int] = []
    /// Whether cut marks adjoin the run.
    private var marks = TextCut.Marks()

    /// Called with the bytes of a run, whether cut marks adjoin it, and a function that maps a range of the bytes to a
    /// range of the text.
    typealias Body = (_ bytes: [UInt8], _ marks: TextCut.Marks, _ original: (Range<Int>) -> Range<Int>) -> Void

    /// Decodes every run of a text that is long enough to encode `bytes` bytes.
    static func forEach(in text: [UInt8], bytes: Int, _ body: Body) {
        var run = HexadecimalRuns()
        var index = 0
        while index < text.count {
            let byte = text[index]
            if let digit = byte.hexDigitValue {
                run.digits.append(digit)
                run.places.append(index)
            } else if byte | 0x20 == UInt8(ascii: "x") {
                run.removePrefix(before: index)
            } else if TextCut.beginsMark(at: index, of: text) {
                run.marks.after = true
                run.end(bytes: bytes, body)
                run.marks.before = true
                index += TextCut.markLength - 1
            } else if byte.isLetterOrDigit || byte >= 0x80 {
                run.end(bytes: bytes, body)
            }
            index += 1
        }
        run.end(bytes: bytes, body)
    }

    /// Removes the zero of a `0x` prefix.
    private mutating func removePrefix(before index: Int) {
        guard digits.last == 0, places.last == index - 1 else { return }
        digits.removeLast()
        places.removeLast()
    }

    /// Decodes the run twice, from its first and from its second digit, and starts the next run.
    private mutating func end(bytes least: Int, _ body: Body) {
        defer {
            // Most words of a text contain a hexadecimal digit, so reuse the memory.
            digits.removeAll(keepingCapacity: true)
            places.removeAll(keepingCapacity: true)
            marks = TextCut.Marks()
        }
        guard digits.count >= 2 * least else { return }
        for first in 0...1 {
            let bytes = (0..<((digits.count - first) / 2)).map { index in
                digits[first + 2 * index] << 4 | digits[first + 2 * index + 1]
            }
            body(bytes, marks) { range in
                places[first + 2 * range.lowerBound]..<(places[first + 2 * range.upperBound - 1] + 1)
            }
        }
    }
}
