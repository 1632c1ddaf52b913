// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A condition on a row in PostgREST's syntax: `and("a".eq."1",or(b.gt.2,b.is.null))`, or `a=eq.1` in a query.
indirect enum PostgRESTCondition {
    case all([PostgRESTCondition])
    case any([PostgRESTCondition])
    case not(PostgRESTCondition)
    /// A comparison of a column with a text or, for `in`, with several.
    case comparison(column: String, word: String, texts: [String])

    /// The names of the comparisons.
    private static let words: Set = ["eq", "neq", "lt", "lte", "gt", "gte", "in", "is", "like", "ilike"]

    /// Reads an item of a query; nil if it is not a condition.
    init?(name: String, value: String) {
        var parser = Parser(text: Array(value.unicodeScalars))
        switch name {
        case "and", "or":
            guard let list = parser.list() else { return nil }
            self = name == "and" ? .all(list) : .any(list)
        default:
            guard let comparison = parser.comparison(of: name, isNested: false) else { return nil }
            self = comparison
        }
        guard parser.isAtEnd else { return nil }
    }

    /// Whether a row passes: whether the condition is true of it.
    func passes(_ row: JSONObject) -> Bool { truth(of: row) == true }

    /// Whether the condition is true of a row, in the three-valued logic of SQL; nil for unknown, as each comparison with a null
    /// column is except `is`.
    private func truth(of row: JSONObject) -> Bool? {
        switch self {
        case .all(let conditions):
            let truths = conditions.map { $0.truth(of: row) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .any(let conditions):
            let truths = conditions.map { $0.truth(of: row) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .not(let condition): return condition.truth(of: row).map { !$0 }
        case .comparison(let column, let word, let texts):
            let (value, text) = (row[column] ?? .null, texts.first ?? "")
            if word == "is" { return value.serialized() == text.lowercased() }
            guard value != .null else { return nil }
            let order = Self.order(value, text)
            return switch word {
            case "eq": order == 0
            case "neq": order != 0
            case "lt": order < 0
            case "lte": order <= 0
            case "gt": order > 0
            case "gte": order >= 0
            case "in": texts.contains { Self.order(value, $0) == 0 }
            case "ilike": Self.isLike(Self.text(value).lowercased(), text.lowercased())
            default: Self.isLike(Self.text(value), text)
            }
        }
    }

    /// Whether a text matches a pattern: `*` and `%` stand for any text, `_` for any one character, and `\` escapes the next.
    private static func isLike(_ text: String, _ pattern: String) -> Bool {
        enum Element: Equatable { case any, one, scalar(Unicode.Scalar) }
        var elements: [Element] = []
        var rest = Substring(pattern).unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*", "%": elements.append(.any)
            case "_": elements.append(.one)
            case "\\": elements.append(.scalar(rest.popFirst() ?? scalar))
            default: elements.append(.scalar(scalar))
            }
        }
        let scalars = Array(text.unicodeScalars)
        var (index, place) = (0, 0)
        // Where to continue on a mismatch: the end of the text that the last wildcard covers, and the element after that wildcard.
        var retry: (index: Int, place: Int)?
        while index < scalars.count {
            let element = place < elements.count ? elements[place] : nil
            if element == .any {
                place += 1
                retry = (index, place)
            } else if element == .one || element == .scalar(scalars[index]) {
                (index, place) = (index + 1, place + 1)
            } else if let last = retry {
                retry = (last.index + 1, last.place)
                (index, place) = (last.index + 1, last.place)
            } else {
                return false
            }
        }
        return elements[place...].allSatisfy { $0 == .any }
    }

    /// The order of a value and a text: -1 if the value comes first, 0 if they are equal, 1 otherwise; numbers compare as numbers.
    static func order(_ value: JSONValue, _ text: String) -> Int {
        if let number = value.number, let other = Double(text) { return number < other ? -1 : number > other ? 1 : 0 }
        let own = Self.text(value)
        return own < text ? -1 : own > text ? 1 : 0
    }

    static func text(_ value: JSONValue) -> String { value.string ?? value.serialized() }

    /// Reads conditions from left to right.
    private struct Parser {
        let text: [Unicode.Scalar]
        var index = 0

        init(text: [Unicode.Scalar]) { self.text = text }

        var isAtEnd: Bool { index == text.count }

        /// Reads a mark if it is next; returns whether it was.
        mutating func reads(_ mark: Unicode.Scalar) -> Bool {
            guard index < text.count, text[index] == mark else { return false }
            index += 1
            return true
        }

        /// Reads a list of conditions in parentheses; nil if it is malformed.
        mutating func list() -> [PostgRESTCondition]? {
            guard reads("(") else { return nil }
            var conditions: [PostgRESTCondition] = []
            repeat {
                guard let condition = condition() else { return nil }
                conditions.append(condition)
            } while reads(",")
            return reads(")") ? conditions : nil
        }

        private mutating func condition() -> PostgRESTCondition? {
            let isQuoted = index < text.count && text[index] == "\""
            let name = word(until: ".(,)")
            if !isQuoted, name == "and" || name == "or" {
                guard let list = list() else { return nil }
                return name == "and" ? .all(list) : .any(list)
            }
            if !isQuoted, name == "not", reads(".") { return condition().map { .not($0) } }
            return reads(".") ? comparison(of: name, isNested: true) : nil
        }

        /// Reads what follows the name of a column; nil if it is not a comparison.
        mutating func comparison(of column: String, isNested: Bool) -> PostgRESTCondition? {
            let name = word(until: ".")
            guard reads(".") else { return nil }
            if name == "not" { return comparison(of: column, isNested: isNested).map { .not($0) } }
            guard words.contains(name) else { return nil }
            guard name == "in" else {
                let text = word(until: isNested ? ",)" : "")
                return .comparison(column: column, word: name, texts: [text])
            }
            guard reads("(") else { return nil }
            var texts: [String] = []
            repeat { texts.append(word(until: ",)")) } while reads(",")
            return reads(")") ? .comparison(column: column, word: name, texts: texts) : nil
        }

        /// Reads a word up to one of `marks`, or a word in quotation marks, in which `\` escapes the next character.
        private mutating func word(until marks: String) -> String {
            var word = String.UnicodeScalarView()
            let isQuoted = !marks.isEmpty && reads("\"")
            while index < text.count {
                let character = text[index]
                if isQuoted ? character == "\"" : marks.unicodeScalars.contains(character) { break }
                index += 1
                if isQuoted, character == "\\", index < text.count {
                    word.append(text[index])
                    index += 1
                } else {
                    word.append(character)
                }
            }
            if isQuoted { index = min(index + 1, text.count) }
            return String(word)
        }
    }
}
