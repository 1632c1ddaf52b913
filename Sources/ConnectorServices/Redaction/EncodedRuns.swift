// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// A run of Base64 letters of either alphabet, perhaps broken into lines.
struct Base64Runs {
    /// The text that the run stands in.
    private let text: [UInt8]
    /// The values of the letters.
    private var values: [UInt8] = []
    /// The places of the letters.
    private var places: [Int] = []

    /// The fewest letters that can hold a secret: two encode one byte.
    private static let least = 2

    /// Passes every run of a text on.
    static func forEach(in text: [UInt8], _ body: (Base64Runs) -> Void) {
        var run = Base64Runs(text: text)
        var index = 0
        while index < text.count {
            // Most words of a text are such runs: they share the memory of the first ones.
            run.values.removeAll(keepingCapacity: true)
            run.places.removeAll(keepingCapacity: true)
            while index < text.count {
                if let value = value(of: text[index]) {
                    run.values.append(value)
                    run.places.append(index)
                } else if run.values.isEmpty || !isLineBreak(text[index]) {
                    break
                }
                index += 1
            }
            if run.values.count >= least { body(run) }
            index += 1
        }
    }

    /// Decodes the run four times: from each of its first four letters, one of which begins a group.
    ///
    /// - Parameter body: Takes the bytes, whether the run is the encoding of a whole text by the look of it, and where a
    ///   range of the bytes stands in the text.
    func forEachAlignment(_ body: ([UInt8], Bool, (Range<Int>) -> Range<Int>) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * 3 / 4)
        for offset in 0..<min(4, values.count) {
            bytes.removeAll(keepingCapacity: true)
            var bits: UInt32 = 0
            var count: UInt32 = 0
            for value in values[offset...] {
                bits = bits << 6 | UInt32(value)
                count += 6
                guard count >= 8 else { continue }
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
            let isText = offset == 0 && bytes.allSatisfy { (0x20..<0x7F).contains($0) }
            var covered = 0..<0
            body(bytes, isText) { range in
                let first = places[offset + range.lowerBound * 8 / 6]
                let last = places[offset + (range.upperBound * 8 - 1) / 6]
                if covered.contains(first), covered.contains(last) { return covered }
                covered = whole(first..<(last + 1), after: covered.upperBound)
                return covered
            }
        }
    }

    /// A range with the letters beside it, up to the ends of its lines: they carry bits of the secret, and its
    /// neighbours.
    private func whole(_ range: Range<Int>, after bound: Int) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > bound, Self.value(of: text[start - 1]) != nil { start -= 1 }
        while end < text.count, Self.value(of: text[end]) != nil || text[end] == UInt8(ascii: "=") { end += 1 }
        return start..<end
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case 0x41...0x5A: letter - 0x41
        case 0x61...0x7A: letter - 0x61 + 26
        case 0x30...0x39: letter - 0x30 + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Runs of hexadecimal digits.
enum HexadecimalRuns {
    /// The fewest digits that can hold a secret, or the beginning of one, that is not a short word.
    private static let least = 8

    /// Decodes every run of a text twice, from its first and from its second digit.
    ///
    /// - Parameter body: Takes the bytes, and where a range of them stands in the text.
    static func forEach(in text: [UInt8], _ body: ([UInt8], (Range<Int>) -> Range<Int>) -> Void) {
        var index = 0
        while index < text.count {
            let start = index
            while index < text.count, PercentCoding.value(ofHexDigit: text[index]) != nil { index += 1 }
            if index - start >= least {
                decode(text, start..<index, body)
                decode(text, (start + 1)..<index, body)
            }
            index += 1
        }
    }

    private static func decode(
        _ text: [UInt8],
        _ run: Range<Int>,
        _ body: ([UInt8], (Range<Int>) -> Range<Int>) -> Void
    ) {
        let bytes = (0..<(run.count / 2)).map { place in
            let first = run.lowerBound + 2 * place
            return (PercentCoding.value(ofHexDigit: text[first]) ?? 0) << 4
                | (PercentCoding.value(ofHexDigit: text[first + 1]) ?? 0)
        }
        body(bytes) { range in
            (run.lowerBound + 2 * range.lowerBound)..<(run.lowerBound + 2 * range.upperBound)
        }
    }
}
