// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A condition on a row in PostgREST's syntax: `and("a".eq."1",or(b.gt.2,b.is.null))`, or `a=eq.1` in a query.
indirect enum PostgRESTCondition {
    /// All conditions are true.
    case all([PostgRESTCondition])
    /// Any condition is true.
    case any([PostgRESTCondition])
    /// The condition is false.
    case not(PostgRESTCondition)
    /// A comparison of a column with a text or, for `in`, with several.
    case comparison(column: PostgRESTColumn, word: String, texts: [String])

    /// Reads an item of a query; nil if it is not a condition.
    init?(name: String, value: String) {
        var parser = PostgRESTParser(value)
        switch name {
        case "and", "or":
            guard let list = parser.conditions() else { return nil }
            self = name == "and" ? .all(list) : .any(list)
        default:
            var names = PostgRESTParser(name)
            guard let column = names.column(until: "."), names.isAtEnd,
                let comparison = parser.comparison(of: column, isNested: false)
            else { return nil }
            self = comparison
        }
        guard parser.isAtEnd else { return nil }
    }

    /// Whether a row passes: whether the condition is true of it.
    func passes(_ row: JSONObject) -> Bool { matches(row) == true }

    /// Whether the condition is true of a row, in the three-valued logic of SQL; nil for unknown, as each comparison with a null
    /// column is except `is`.
    private func matches(_ row: JSONObject) -> Bool? {
        switch self {
        case .all(let conditions):
            let results = conditions.map { $0.matches(row) }
            return results.contains(false) ? false : results.contains(nil) ? nil : true
        case .any(let conditions):
            let results = conditions.map { $0.matches(row) }
            return results.contains(true) ? true : results.contains(nil) ? nil : false
        case .not(let condition): return condition.matches(row).map { !$0 }
        case .comparison(let column, let word, let texts):
            let (value, text) = (column.value(in: row), texts.first ?? "")
            if word == "is" { return text == "not_null" ? value != .null : value.serialized() == text }
            // The server takes a list of one empty text for an empty list, in which nothing is.
            if word == "in", texts == [""] { return false }
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
            case "ilike": Self.isLike(PostgRESTColumn.text(value).lowercased(), text.lowercased())
            default: Self.isLike(PostgRESTColumn.text(value), text)
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

    /// The order of a value and a text, which is a number if the value is one.
    private static func order(_ value: JSONValue, _ text: String) -> Int {
        PostgRESTColumn.order(value, (value.number == nil ? nil : JSONValue.number(in: text)) ?? .string(text))
    }
}

extension PostgRESTParser {
    /// The names of the comparisons.
    private static let words: Set = ["eq", "neq", "lt", "lte", "gt", "gte", "in", "is", "like", "ilike"]
    /// What a column can be, besides null.
    private static let states = [
        "null": "null", "not_null": "not_null", "true": "true", "false": "false", "unknown": "null",
    ]

    /// Reads a list of conditions in parentheses; nil if it is malformed.
    mutating func conditions() -> [PostgRESTCondition]? {
        guard reads("(") else { return nil }
        var conditions: [PostgRESTCondition] = []
        repeat {
            guard let condition = condition() else { return nil }
            conditions.append(condition)
        } while reads(",")
        return reads(")") ? conditions : nil
    }

    /// Reads one condition of a list; nil if it is malformed.
    private mutating func condition() -> PostgRESTCondition? {
        if isNext("and(") || isNext("or(") {
            let isAll = reads("and") || !reads("or")
            return conditions().map { isAll ? .all($0) : .any($0) }
        }
        if reads("not.") { return condition().map { .not($0) } }
        guard let column = column(until: ".(,)"), reads(".") else { return nil }
        return comparison(of: column, isNested: true)
    }

    /// Reads what follows a column; nil if it is not a comparison.
    mutating func comparison(of column: PostgRESTColumn, isNested: Bool) -> PostgRESTCondition? {
        let name = word(until: ".")
        guard reads(".") else { return nil }
        if name == "not" { return comparison(of: column, isNested: isNested).map { .not($0) } }
        guard Self.words.contains(name) else { return nil }
        guard name == "in" else {
            var text = value(until: isNested ? ",)" : "")
            if name == "is" {
                guard let state = Self.states[text.lowercased()] else { return nil }
                text = state
            }
            return .comparison(column: column, word: name, texts: [text])
        }
        guard reads("(") else { return nil }
        var texts: [String] = []
        repeat { texts.append(value(until: ",)")) } while reads(",")
        return reads(")") ? .comparison(column: column, word: name, texts: texts) : nil
    }
}
