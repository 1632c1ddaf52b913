// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Removes secrets from texts before people see them.
///
/// It finds each secret in any letter case and in plain text; behind up to three layers of escapes, in any mixture of
/// percent encoding, string literals and HTML; in Base64, standard or URL-safe, at any alignment and over several
/// lines; and in hexadecimal. ``SecretAutomaton`` says what happens to short secrets and to those that were cut.
///
/// It costs nothing without secrets, and otherwise time linear in the text. What was compressed, encrypted, split or
/// encoded in any other way is not found.
package struct Redactor: Sendable {
    private let automaton: SecretAutomaton
    /// Whether there are no secrets to find.
    package let isEmpty: Bool

    /// How many layers of escapes are decoded.
    private static let layers = 3

    /// Takes the secrets to look for; empty ones are ignored.
    package init(_ secrets: some Sequence<Secret>) {
        var forms: [[UInt8]] = []
        for secret in secrets {
            // A secret may itself look escaped; then a decoded text holds it decoded.
            var form = Array(secret.reveal().utf8)
            forms.append(form)
            for _ in 0..<Self.layers {
                let decoded = UnescapedText(form)
                guard decoded.isChanged, decoded.bytes.count > SecretAutomaton.longestWord else { break }
                form = decoded.bytes
                forms.append(form)
            }
        }
        automaton = SecretAutomaton(forms)
        isEmpty = automaton.shortest == nil
    }

    /// The text with `•••` in place of every secret.
    package func redact(_ text: String) -> String {
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

    /// The ranges to hide, in order, overlapping ones merged.
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
        Base64Runs.forEach(in: text) { run in
            run.forEachAlignment { bytes, isWhole, original in
                search(decoded: bytes, findsWords: isWhole) { hit(original($0)) }
            }
        }
        HexadecimalRuns.forEach(in: text) { bytes, original in
            search(decoded: bytes, findsWords: false) { hit(original($0)) }
        }
    }

    /// Finds secrets in the bytes behind an encoding, escaped once or not.
    private func search(decoded bytes: [UInt8], findsWords: Bool, _ hit: (Range<Int>) -> Void) {
        automaton.search(bytes, findsWords: findsWords, hit)
        let plain = UnescapedText(bytes)
        guard plain.isChanged else { return }
        automaton.search(plain.bytes, findsWords: findsWords) { hit(plain.original($0)) }
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
