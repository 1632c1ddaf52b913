// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Parses statements from tokens.
struct InfluxQLParser {
    /// The deepest nesting of parentheses.
    private static let depthLimit = 32

    /// A statement, and the database that it names.
    struct Parsed: Sendable {
        /// The statement.
        var statement: InfluxQLStatement
        /// The database; nil for the request's.
        var database: ExactText?
    }

    /// The tokens of the query.
    private let tokens: [InfluxQLToken]
    /// Values for `$name`, from the request's `params`.
    private let parameters: JSONObject
    /// The value of `now()`, in nanoseconds since 1970.
    private let now: Int64
    /// The index of the next token.
    private var position = 0
    /// The database that the current statement names.
    private var database: ExactText?

    /// Parses all statements of `query`, separated by semicolons.
    static func parse(
        _ query: String,
        parameters: JSONObject,
        now: Timestamp
    ) throws(Refusal) -> [Parsed] {
        guard let tokens = InfluxQLToken.tokens(of: query) else {
            throw Refusal(message: "found BADSTRING, expected ;")
        }
        var parser = InfluxQLParser(tokens: tokens, parameters: parameters, now: Int64(clamping: now.nanoseconds))
        var statements: [Parsed] = []
        while parser.position < tokens.count {
            if parser.skip(symbol: ";") { continue }
            parser.database = nil
            let statement = try parser.statement()
            statements.append(Parsed(statement: statement, database: parser.database))
            guard parser.position == tokens.count || parser.skip(symbol: ";") else {
                throw parser.unexpected("; (the simulator implements a part of InfluxQL)")
            }
        }
        return statements
    }

    /// Reads one statement.
    private mutating func statement() throws(Refusal) -> InfluxQLStatement {
        if skip("SELECT") { return .select(try selection()) }
        if skip("SHOW") { return try show() }
        if skip("CREATE") {
            guard skip("DATABASE") else { throw unimplemented("CREATE \(found)") }
            return .createDatabase(try exactName())
        }
        if skip("DROP") {
            if skip("DATABASE") { return .dropDatabase(try exactName()) }
            if skip("MEASUREMENT") { return .dropMeasurement(try exactName()) }
            if skip("SERIES"), skip("FROM") { return .dropMeasurement(try exactName()) }
            throw unimplemented("DROP \(found)")
        }
        for word in ["DELETE", "EXPLAIN", "GRANT", "REVOKE", "ALTER", "SET", "KILL"] where skip(word) {
            throw unimplemented(word)
        }
        throw unexpected("SELECT, DELETE, SHOW, CREATE, DROP, EXPLAIN, GRANT, REVOKE, ALTER, SET, KILL")
    }

    /// Reads the rest of a `SHOW` statement.
    private mutating func show() throws(Refusal) -> InfluxQLStatement {
        let first = try name().uppercased()
        switch first {
        case "DATABASES": return .showDatabases
        case "MEASUREMENTS":
            if skip("ON") { database = try exactName() }
            return .showMeasurements(try page())
        case "SERIES":
            let source = try source()
            return .showSeries(source, try page())
        case "RETENTION":
            guard skip("POLICIES") else { throw unexpected("POLICIES") }
            if skip("ON") { database = try exactName() }
            return .showRetentionPolicies
        case "TAG":
            if skip("KEYS") { return .showTagKeys(try source()) }
            guard skip("VALUES") else { throw unexpected("KEYS, VALUES") }
            let source = try source()
            guard skip("WITH"), skip("KEY"), skip(symbol: "=") else { throw unexpected("WITH KEY =") }
            return .showTagValues(source, key: try exactName())
        case "FIELD":
            guard skip("KEYS") else { throw unexpected("KEYS") }
            return .showFieldKeys(try source())
        default: throw unimplemented("SHOW \(first)")
        }
    }

    /// Reads `ON database` and `FROM measurement`.
    private mutating func source() throws(Refusal) -> ExactText? {
        if skip("ON") { database = try exactName() }
        return skip("FROM") ? try exactName() : nil
    }

    /// Reads the rest of a `SELECT` statement.
    private mutating func selection() throws(Refusal) -> InfluxQLStatement.Selection {
        var selection = InfluxQLStatement.Selection()
        repeat { selection.columns.append(try column()) } while skip(symbol: ",")
        guard skip("FROM") else { throw unexpected("FROM") }
        try measurement(into: &selection)
        if skip("WHERE") {
            repeat { try condition(into: &selection) } while skip("AND")
        }
        if skip("GROUP") {
            guard skip("BY") else { throw unexpected("BY") }
            repeat {
                if skip(symbol: "*") { selection.groups = nil } else { selection.groups?.append(try exactName()) }
            } while skip(symbol: ",")
        }
        if skip("ORDER") {
            guard skip("BY"), try name() == "time" else {
                throw Refusal(message: "only ORDER BY time supported at this time")
            }
            selection.isDescending = skip("DESC")
            if !selection.isDescending { _ = skip("ASC") }
        }
        selection.page = try page()
        return selection
    }

    /// Reads `LIMIT count` and `OFFSET count`; a limit of 0 is none.
    private mutating func page() throws(Refusal) -> InfluxQLStatement.Page {
        var page = InfluxQLStatement.Page()
        if skip("LIMIT") {
            let limit = try count()
            page.limit = limit == 0 ? nil : limit
        }
        if skip("OFFSET") { page.offset = try count() }
        return page
    }

    /// Reads `*`, a name or `function(name)`, optionally with `AS name`.
    private mutating func column() throws(Refusal) -> InfluxQLStatement.Column {
        if skip(symbol: "*") { return .all }
        let name = try name()
        guard skip(symbol: "(") else { return .field(name, alias: skip("AS") ? try self.name() : nil) }
        let function = name.lowercased()
        guard ["count", "sum", "mean", "min", "max", "first", "last"].contains(function) else {
            throw Refusal(message: "undefined function \(name)()")
        }
        let argument = skip(symbol: "*") ? "*" : try self.name()
        guard skip(symbol: ")") else { throw unexpected(")") }
        return .aggregate(function, argument, alias: skip("AS") ? try self.name() : nil)
    }

    /// Reads `m`, `"policy"."m"`, `"db"."policy"."m"` or `"db".."m"`.
    private mutating func measurement(into selection: inout InfluxQLStatement.Selection) throws(Refusal) {
        var names: [ExactText?] = [try exactName()]
        while names.count < 3, skip(symbol: ".") {
            if names.count == 1, skip(symbol: ".") { names.append(nil) }
            names.append(try exactName())
        }
        selection.measurement = names.removeLast() ?? ExactText("")
        selection.policy = names.popLast() ?? nil
        if let name = names.last { database = name }
    }

    /// Reads one comparison; a comparison of `time` narrows the range.
    private mutating func condition(
        into selection: inout InfluxQLStatement.Selection,
        depth: Int = 0
    ) throws(Refusal) {
        if skip(symbol: "(") {
            guard depth < Self.depthLimit else { throw Refusal(message: "the query is nested too deeply") }
            repeat { try condition(into: &selection, depth: depth + 1) } while skip("AND")
            guard skip(symbol: ")") else { throw unexpected(")") }
            return
        }
        let name = try name()
        guard case .symbol(let comparison)? = next, ["=", "!=", "<>", "<", "<=", ">", ">="].contains(comparison) else {
            throw unexpected("=, !=, <, <=, >, >=")
        }
        position += 1
        guard name.lowercased() == "time" else {
            let value = try value()
            selection.conditions.append(.init(name: ExactText(name), comparison: comparison, value: value))
            return
        }
        let time = try time()
        switch comparison {
        case "=": (selection.earliest, selection.latest) = (max(selection.earliest, time), min(selection.latest, time))
        case ">": selection.earliest = max(selection.earliest, time == .max ? time : time + 1)
        case ">=": selection.earliest = max(selection.earliest, time)
        case "<": selection.latest = min(selection.latest, time == .min ? time : time - 1)
        case "<=": selection.latest = min(selection.latest, time)
        default: throw Refusal(message: "invalid time comparison operator: \(comparison)")
        }
    }
}

extension InfluxQLParser {
    /// The next token, if there is one.
    private var next: InfluxQLToken? { position < tokens.count ? tokens[position] : nil }

    /// Consumes a keyword, in any case, if it is next.
    private mutating func skip(_ keyword: String) -> Bool {
        guard case .word(let word)? = next, word.uppercased() == keyword else { return false }
        position += 1
        return true
    }

    /// Consumes an operator if it is next.
    private mutating func skip(symbol: String) -> Bool {
        guard next == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    /// Reads a name, bare or in double quotes.
    private mutating func name() throws(Refusal) -> String {
        switch next {
        case .word(let text), .name(let text):
            position += 1
            return text
        default: throw unexpected("identifier")
        }
    }

    /// Reads the name of a database, a measurement, a tag or a field.
    private mutating func exactName() throws(Refusal) -> ExactText { ExactText(try name()) }

    /// Reads a number of points.
    private mutating func count() throws(Refusal) -> Int {
        guard case .word(let word)? = next, let count = Int(word), count >= 0 else { throw unexpected("integer") }
        position += 1
        return count
    }

    /// Reads a literal or a parameter.
    private mutating func value() throws(Refusal) -> JSONValue {
        let isNegative = skip(symbol: "-")
        guard let token = next else { throw unexpected("string, number, bool") }
        position += 1
        switch token {
        case .text(let text): return .string(text)
        case .word(let word):
            if word.hasPrefix("$") {
                guard let value = parameters[String(word.dropFirst())] else {
                    throw Refusal(message: "missing parameter: \(word.dropFirst())")
                }
                return value
            }
            if word.lowercased() == "true" { return true }
            if word.lowercased() == "false" { return false }
            if let integer = Int64((isNegative ? "-" : "") + word) { return .integer(integer) }
            if let number = Double((isNegative ? "-" : "") + word), number.isFinite { return .number(number) }
        case .name, .symbol: break
        }
        position -= 1
        throw unexpected("string, number, bool")
    }

    /// Reads a time: nanoseconds, a number with a unit, a date, or `now()` plus or minus a duration.
    private mutating func time() throws(Refusal) -> Int64 {
        if skip("NOW") {
            guard skip(symbol: "("), skip(symbol: ")") else { throw unexpected("()") }
            if skip(symbol: "-") { return now.subtractingReportingOverflow(try duration()).partialValue }
            if skip(symbol: "+") { return now.addingReportingOverflow(try duration()).partialValue }
            return now
        }
        if case .text(let text)? = next {
            position += 1
            return try date(text)
        }
        if case .word(let word)? = next, word.hasPrefix("$") {
            switch try value() {
            case .string(let text): return try date(text)
            case let number:
                guard let integer = number.integer else { throw unexpected("time") }
                return integer
            }
        }
        let isNegative = skip(symbol: "-")
        let time = try duration()
        return isNegative ? -time : time
    }

    private func date(_ text: String) throws(Refusal) -> Int64 {
        if let time = InfluxQLTime.parse(text) { return time }
        throw Refusal(message: "unable to parse time: \(text)")
    }

    /// Reads digits and a unit, such as `1h`, or digits alone, which are nanoseconds.
    private mutating func duration() throws(Refusal) -> Int64 {
        guard case .word(let word)? = next else { throw unexpected("duration") }
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        let unit = word.dropFirst(digits.count)
        let seconds: [Substring: Int64] = ["d": 86_400_000_000_000, "w": 604_800_000_000_000]
        let names: Set<Substring> = ["", "ns", "u", "us", "µ", "ms", "s", "m", "h", "d", "w"]
        guard let number = Int64(digits), names.contains(unit) else { throw unexpected("duration") }
        position += 1
        let scale = seconds[unit] ?? LineProtocol.unit(of: String(unit))
        let (duration, overflows) = number.multipliedReportingOverflow(by: scale)
        guard !overflows else { throw Refusal(message: "overflowed duration") }
        return duration
    }

    /// The text of the next token.
    private var found: String {
        switch next {
        case .word(let text), .name(let text), .text(let text), .symbol(let text): text
        case nil: "EOF"
        }
    }

    /// The server's message for an unexpected token.
    private func unexpected(_ expected: String) -> Refusal {
        Refusal(message: "found \(found), expected \(expected)")
    }

    /// The message for a statement of the real server that this one lacks.
    private func unimplemented(_ words: String) -> Refusal {
        Refusal(message: "the simulator does not implement \(words)")
    }
}
