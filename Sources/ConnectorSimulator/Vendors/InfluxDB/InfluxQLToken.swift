// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One token of an InfluxQL statement.
enum InfluxQLToken: Sendable, Equatable {
    /// A bare word: a keyword, a name, or a number with or without a unit, such as `7d`.
    case word(String)
    /// A name in double quotes.
    case name(String)
    /// A text in single quotes.
    case text(String)
    /// An operator or punctuation, such as `>=`, `*` or `,`.
    case symbol(String)

    /// Splits a query into tokens; `nil` if a quote is not closed.
    static func tokens(of query: String) -> [InfluxQLToken]? {
        var tokens: [InfluxQLToken] = []
        var rest = Substring(query).unicodeScalars
        while let character = rest.first {
            if character.properties.isWhitespace {
                rest = rest.dropFirst()
            } else if character == "\"" || character == "'" {
                guard let text = quoted(&rest, by: character) else { return nil }
                tokens.append(character == "'" ? .text(text) : .name(text))
            } else if isWord(character) {
                let isNumber = character.properties.numericType != nil
                let word = rest.prefix { isWord($0) || isNumber && $0 == "." }
                rest = rest.dropFirst(word.count)
                tokens.append(.word(String(word)))
            } else {
                let two = String(rest.prefix(2))
                let symbol = ["<=", ">=", "!=", "<>", "=~", "!~"].contains(two) ? two : String(character)
                rest = rest.dropFirst(symbol.unicodeScalars.count)
                tokens.append(.symbol(symbol))
            }
        }
        return tokens
    }

    /// Whether a character may be part of a bare word.
    private static func isWord(_ character: Unicode.Scalar) -> Bool {
        let properties = character.properties
        return properties.isAlphabetic || properties.numericType != nil
            || properties.generalCategory == .nonspacingMark || character == "_" || character == "$"
    }

    /// Reads up to the closing quote; a backslash escapes the next character.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView, by quote: Unicode.Scalar) -> String? {
        rest = rest.dropFirst()
        var text = String.UnicodeScalarView()
        while let character = rest.popFirst() {
            if character == quote { return String(text) }
            if character == "\\", let next = rest.popFirst() {
                if next != quote, next != "\\" { text.append("\\") }
                text.append(next)
            } else {
                text.append(character)
            }
        }
        return nil
    }
}
