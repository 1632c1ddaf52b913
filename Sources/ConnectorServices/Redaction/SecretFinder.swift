// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds a fixed set of secrets, and pieces of them, in texts.
///
/// It finds them in any letter case: in plain text; under up to three layers of escapes, in any mixture of
/// percent-encoding, string literals and HTML; in Base64, standard or URL-safe, at any alignment and across lines, and in
/// Base64 of that; and in hexadecimal, with or without separators. ``SecretPiece`` says how long a piece must be.
///
/// Without secrets it is free; otherwise it takes time linear in the text. It does not find secrets that were
/// compressed, encrypted or encoded in any other way.
struct SecretFinder: Sendable {
    private let automaton: SecretAutomaton

    /// How many layers of escapes are decoded.
    private static let layers = 3

    /// Creates a finder of secrets; it ignores empty ones.
    init(_ secrets: some Sequence<Secret>) {
        var forms: [[UInt8]] = []
        for secret in secrets {
            // A secret may look escaped; a decoded text then contains its decoded form.
            var form = Array(secret.reveal().utf8)
            forms.append(form)
            for _ in 0..<Self.layers {
                let decoded = UnescapedText(form)
                guard decoded.isChanged, decoded.bytes.count > ShortWords.longest else { break }
                form = decoded.bytes
                forms.append(form)
            }
        }
        // Sorting makes equal ones neighbors. Hashing would take longer: see Benchmarks/README.md on types whose first use is slow.
        forms.sort { $0.lexicographicallyPrecedes($1) }
        automaton = SecretAutomaton(forms.indices.compactMap { $0 > 0 && forms[$0] == forms[$0 - 1] ? nil : forms[$0] })
    }

    /// Whether there are no secrets to find.
    var isEmpty: Bool { automaton.isEmpty }

    /// Returns the text with `•••` in place of every secret.
    func redact(_ text: String) -> String {
        guard !isEmpty else { return text }
        let bytes = Array(text.utf8)
        let hidden = hidden(in: bytes)
        guard !hidden.isEmpty else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var copied = 0
        for range in hidden {
            result += bytes[copied..<range.lowerBound]
            result += Secret.mask.utf8
            copied = range.upperBound
        }
        result += bytes[copied...]
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the ranges to hide, in order, overlapping ones merged.
    private func hidden(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges = HiddenRanges(count: bytes.count)
        var decoded: [UnescapedText] = []
        var text = bytes
        while true {
            search(text) { range in
                ranges.insert(decoded.reversed().reduce(range) { $1.original($0) })
            }
            let next = UnescapedText(text)
            guard next.isChanged, decoded.count < Self.layers else { return ranges.merged }
            decoded.append(next)
            text = next.bytes
        }
    }

    /// Finds secrets in a text without decoding its escapes.
    private func search(_ text: [UInt8], _ hit: (Range<Int>) -> Void) {
        automaton.search(text, hit)
        let leastBytes = automaton.shortWords.isEmpty ? SecretPiece.leastAtMark : 1
        Base64Runs.forEach(in: text, bytes: leastBytes) { run in
            run.forEachAlignment { bytes, isWhole, original in
                search(decoded: bytes, findsWords: isWhole, run.marks) { hit(original($0)) }
            }
            searchNested(in: run, hit)
        }
        HexadecimalRuns.forEach(in: text, bytes: SecretPiece.leastAtMark) { bytes, marks, original in
            search(decoded: bytes, findsWords: false, marks) { hit(original($0)) }
        }
    }

    /// Finds secrets in Base64 within Base64: credentials are Base64 already (RFC 7617), and a server that repeats a request's header
    /// may encode it.
    private func searchNested(in run: Base64Runs, _ hit: (Range<Int>) -> Void) {
        guard run.count >= Self.leastNested else { return }
        run.forEachAlignment { bytes, _, original in
            Base64Runs.forEach(in: bytes, bytes: SecretPiece.leastAtMark) { inner in
                inner.forEachAlignment { bytes, isWhole, place in
                    search(decoded: bytes, findsWords: isWhole, inner.marks) { hit(original(place($0))) }
                }
            }
        }
    }

    /// The fewest letters that encode an encoded piece of a secret: four bytes take six letters, and these eight.
    private static let leastNested = 8

    /// Finds secrets in decoded bytes, which may be escaped once.
    private func search(
        decoded bytes: [UInt8],
        findsWords: Bool,
        _ marks: TextCut.Marks,
        _ hit: (Range<Int>) -> Void
    ) {
        automaton.search(bytes, findsWords: findsWords, marks: marks, hit)
        let plain = UnescapedText(bytes)
        guard plain.isChanged else { return }
        automaton.search(plain.bytes, findsWords: findsWords, marks: marks) { hit(plain.original($0)) }
    }
}

/// Collects ranges, and merges those that overlap, in linear time.
private struct HiddenRanges {
    /// For each start, the furthest end; 0 for none. Empty before the first range.
    private var ends: [Int] = []
    private let count: Int

    init(count: Int) {
        self.count = count
    }

    mutating func insert(_ range: Range<Int>) {
        if ends.isEmpty { ends = Array(repeating: 0, count: count) }
        ends[range.lowerBound] = max(ends[range.lowerBound], range.upperBound)
    }

    /// The ranges in order. Ranges that only touch stay apart.
    var merged: [Range<Int>] {
        var merged: [Range<Int>] = []
        for (start, end) in ends.enumerated() where end > start {
            if let last = merged.last, start < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, end)
            } else {
                merged.append(start..<end)
            }
        }
        return merged
    }
}
