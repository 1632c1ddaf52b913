// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A run of Base64 letters of either alphabet, possibly broken into lines.
struct Base64Runs {
    /// The text that contains the run.
    private let text: [UInt8]
    /// The values of the letters.
    private var values: [UInt8] = []
    /// The indices of the letters in the text.
    private var places: [Int] = []

    /// Calls `body` with every run of a text that is long enough to encode `bytes` bytes.
    static func forEach(in text: [UInt8], bytes: Int, _ body: (Base64Runs) -> Void) {
        let least = (8 * bytes + 5) / 6
        var run = Base64Runs(text: text)
        var index = 0
        while index < text.count {
            // Most words of a text are such runs, so reuse the memory.
            run.values.removeAll(keepingCapacity: true)
            run.places.removeAll(keepingCapacity: true)
            var isBehindLine = false
            while index < text.count {
                if let value = value(of: text[index]) {
                    run.values.append(value)
                    run.places.append(index)
                    isBehindLine = false
                } else if !run.values.isEmpty, isLineBreak(text[index]) || isBehindLine && text[index].isBlank {
                    // Lines may be indented.
                    isBehindLine = true
                } else {
                    break
                }
                index += 1
            }
            if run.values.count >= least { body(run) }
            index += 1
        }
    }

    /// The number of letters.
    var count: Int { values.count }

    /// Whether cut marks adjoin the run.
    var marks: TextCut.Marks {
        guard let first = places.first, let last = places.last else { return TextCut.Marks() }
        return TextCut.Marks(
            before: TextCut.endsMark(at: first - 1, of: text),
            after: TextCut.beginsMark(at: last + 1, of: text)
        )
    }

    /// Decodes the run four times, skipping its first 0, 2, 4 and 6 bits; one of these starts at a byte boundary.
    ///
    /// - Parameter body: Called with the bytes, whether the run looks like a complete encoding, and a function that
    ///   maps a range of the bytes to a range of the text.
    func forEachAlignment(_ body: ([UInt8], Bool, (Range<Int>) -> Range<Int>) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * 3 / 4)
        for skipped in stride(from: 0, through: 6, by: 2) {
            bytes.removeAll(keepingCapacity: true)
            var bits: UInt32 = 0
            var count = -skipped
            for value in values {
                bits = bits << 6 | UInt32(value)
                count += 6
                guard count >= 8 else { continue }
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
            let isText = skipped == 0 && bytes.allSatisfy(\.isPrintable)
            var covered = 0..<0
            body(bytes, isText) { range in
                let first = places[(skipped + range.lowerBound * 8) / 6]
                let last = places[(skipped + range.upperBound * 8 - 1) / 6]
                if covered.contains(first), covered.contains(last) { return covered }
                covered = whole(first..<(last + 1), after: covered.upperBound)
                return covered
            }
        }
    }

    /// A range extended by the adjacent letters, up to the ends of its lines: they carry bits of the secret.
    private func whole(_ range: Range<Int>, after bound: Int) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > bound, Self.value(of: text[start - 1]) != nil { start -= 1 }
        while end < text.count, Self.value(of: text[end]) != nil || text[end] == UInt8(ascii: "=") { end += 1 }
        return start..<end
    }

    private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    /// The six bits of a letter of the standard or the URL-safe alphabet; nil for any other byte.
    private static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: Base64.value(of: letter)
        }
    }
}
