// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text in which each `*` stands for any text.
struct TextPattern: Sendable {
    /// The pattern as written.
    let text: String
    /// The texts between the stars, in order; a single one if there is no star.
    private let pieces: [Substring.UTF8View]

    init(_ text: String) {
        self.text = text
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
    }

    /// Whether a text has all pieces in order, the first at its start and the last at its end.
    ///
    /// It takes time proportional at most to the length of the text times that of the pattern.
    func matches(_ other: String) -> Bool {
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else { return other == text }
        // Compare bytes: a piece may end inside what Swift takes for one character, such as CR LF.
        guard other.utf8.count >= first.count + last.count, other.utf8.starts(with: first),
            other.utf8.suffix(last.count).elementsEqual(last)
        else {
            return false
        }
        var rest = other.utf8.dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = Self.firstRange(of: piece, in: rest) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    private static func firstRange(
        of piece: Substring.UTF8View,
        in text: Substring.UTF8View
    ) -> Range<String.Index>? {
        var start = text.startIndex
        while let found = text[start...].firstIndex(of: piece.first ?? 0) {
            let candidate = text[found...]
            guard candidate.count >= piece.count else { return nil }
            if candidate.starts(with: piece) { return found..<text.index(found, offsetBy: piece.count) }
            start = text.index(after: found)
        }
        return nil
    }
}
