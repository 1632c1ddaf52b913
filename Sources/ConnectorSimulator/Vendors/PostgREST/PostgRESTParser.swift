// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Reads a parameter of a request from left to right.
struct PostgRESTParser {
    /// The text to read.
    private let text: [Unicode.Scalar]
    /// The place of the next character.
    private var index = 0

    /// Starts at the beginning of a text.
    init(_ text: String) { self.text = Array(text.unicodeScalars) }

    /// Whether the whole text was read.
    var isAtEnd: Bool { index == text.count }

    /// Whether a text comes next.
    func isNext(_ mark: String) -> Bool { text[index...].starts(with: mark.unicodeScalars) }

    /// Reads a text if it is next; returns whether it was.
    mutating func reads(_ mark: String) -> Bool {
        guard isNext(mark) else { return false }
        index += mark.unicodeScalars.count
        return true
    }

    /// Reads a word up to one of `marks` or an arrow, or a word in quotation marks, in which `\` escapes the next character.
    mutating func word(until marks: String) -> String {
        reads("\"")
            ? quoted()
            : bare { parser in
                marks.unicodeScalars.contains(parser.text[parser.index]) || parser.isNext("->")
            }
    }

    /// Reads a value: a word up to one of `marks`, or one in quotation marks; the rest of the text if there are no marks.
    mutating func value(until marks: String) -> String {
        if !marks.isEmpty, reads("\"") { return quoted() }
        return bare { marks.unicodeScalars.contains($0.text[$0.index]) }
    }

    /// Reads a column and the arrows after it; nil if a name is missing.
    mutating func column(until marks: String) -> PostgRESTColumn? {
        var column = PostgRESTColumn(name: word(until: marks))
        guard !column.name.isEmpty else { return nil }
        while !column.isText, reads("->") {
            column.isText = reads(">")
            column.path.append(word(until: marks))
            guard column.path.last?.isEmpty == false else { return nil }
        }
        return column
    }

    /// Reads up to a place that satisfies a condition.
    private mutating func bare(isEnd: (PostgRESTParser) -> Bool) -> String {
        var word = String.UnicodeScalarView()
        while index < text.count, !isEnd(self) {
            word.append(text[index])
            index += 1
        }
        return String(word)
    }

    /// Reads up to the closing quotation mark, and that.
    private mutating func quoted() -> String {
        var word = String.UnicodeScalarView()
        while index < text.count, text[index] != "\"" {
            if text[index] == "\\", index + 1 < text.count { index += 1 }
            word.append(text[index])
            index += 1
        }
        index = min(index + 1, text.count)
        return String(word)
    }
}
