// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Parses InfluxDB's line protocol: `measurement,tag=value field=1,other="text" 1465839830100400200`.
///
/// Source: the line protocol reference of InfluxDB 1.8; messages as its server writes them.
struct LineProtocol {
    /// The line being read.
    private let line: Substring
    /// The unread rest of the line, by code point, so that a combining mark after a delimiter does not hide it.
    private var rest: Substring.UnicodeScalarView
    /// Nanoseconds in one unit of a timestamp.
    private let unit: Int64

    /// Parses every line of a body; skips comments and empty lines.
    ///
    /// - Parameter precision: `n`, `u`, `ms`, `s`, `m`, `h`; anything else counts as nanoseconds.
    static func parse(_ text: String, precision: String?) -> (points: [InfluxPoint], failures: [Refusal]) {
        var points: [InfluxPoint] = []
        var failures: [Refusal] = []
        for line in lines(of: text) where !line.isEmpty && !line.starts(ascii: "#") {
            var parser = LineProtocol(line: line, rest: line.unicodeScalars, unit: unit(of: precision))
            do {
                points.append(try parser.point())
            } catch {
                failures.append(Refusal(message: "unable to parse '\(line)': \(error.message)"))
            }
        }
        return (points, failures)
    }

    /// Splits at line ends outside quotes, because a string field may span lines.
    private static func lines(of text: String) -> [Substring] {
        var lines: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.unicodeScalars.indices {
            let character = text.unicodeScalars[index]
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == "\n", !isQuoted {
                lines.append(text[start..<index])
                start = text.unicodeScalars.index(after: index)
            }
        }
        lines.append(text[start...])
        return lines.map { Substring($0.unicodeScalars.drop { $0 == " " || $0 == "\t" }) }
    }

    /// The nanoseconds in one unit of a precision.
    static func unit(of precision: String?) -> Int64 {
        switch precision {
        case "u", "us", "µ": 1000
        case "ms": 1_000_000
        case "s": 1_000_000_000
        case "m": 60_000_000_000
        case "h": 3_600_000_000_000
        default: 1
        }
    }

    /// Reads one point.
    private mutating func point() throws(Refusal) -> InfluxPoint {
        let measurement = token(until: [",", " "])
        guard !measurement.isEmpty else { throw Refusal(message: "missing measurement") }
        var tags: [ExactText: ExactText] = [:]
        while skip(",") {
            let key = token(until: ["=", ",", " "])
            guard !key.isEmpty else { throw Refusal(message: "missing tag key") }
            guard skip("=") else { throw Refusal(message: "missing tag value") }
            let value = token(until: [",", " ", "="])
            guard !value.isEmpty else { throw Refusal(message: "missing tag value") }
            guard rest.first != "=" else { throw Refusal(message: "invalid tag format") }
            guard tags.updateValue(ExactText(value), forKey: ExactText(key)) == nil else {
                throw Refusal(message: "duplicate tags")
            }
        }
        skipBlanks()
        guard !rest.isEmpty else { throw Refusal(message: "missing fields") }
        var fields: [ExactText: InfluxPoint.Field] = [:]
        repeat {
            let key = token(until: ["=", ",", " "], isFieldKey: true)
            guard !key.isEmpty else {
                throw Refusal(message: rest.first == "=" ? "missing field key" : "invalid field format")
            }
            // The server searches for the end of the key twice; to the second search, a final backslash escapes the equals sign.
            guard rest.first != "=" || key.utf8.last != UInt8(ascii: "\\") else {
                throw Refusal(message: "invalid value: field-key=\(key)\(String(rest.prefix { $0 != " " }))")
            }
            guard skip("=") else {
                throw Refusal(message: fields.isEmpty ? "invalid field format" : "missing field value")
            }
            fields[ExactText(key)] = try field()
        } while skip(",")
        skipBlanks()
        return InfluxPoint(measurement: ExactText(measurement), tags: tags, fields: fields, time: try time())
    }

    /// Reads one field's value.
    private mutating func field() throws(Refusal) -> InfluxPoint.Field {
        if rest.first == "\"" { return InfluxPoint.Field(kind: .string, value: .string(try quoted())) }
        let end = rest.firstIndex { $0 == "," || $0 == " " } ?? rest.endIndex
        let text = Substring(rest[..<end])
        rest = rest[end...]
        guard let first = text.utf8.first else { throw Refusal(message: "missing field value") }
        if first.isDigit || "-.nN".utf8.contains(first) { return try Self.number(text) }
        switch text {
        case "t", "T", "true", "True", "TRUE": return InfluxPoint.Field(kind: .boolean, value: true)
        case "f", "F", "false", "False", "FALSE": return InfluxPoint.Field(kind: .boolean, value: false)
        default: throw Refusal(message: "invalid boolean")
        }
    }

    /// Reads a number: an integer if it ends with `i`.
    private static func number(_ text: Substring) throws(Refusal) -> InfluxPoint.Field {
        let isInteger = text.utf8.last == UInt8(ascii: "i")
        let digits = isInteger ? text.dropLast() : text
        let unsigned = digits.utf8.first == UInt8(ascii: "-") ? digits.dropFirst() : digits
        let parts = unsigned.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) {
            $0 | 0x20 == UInt8(ascii: "e")
        }
        let places = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let exponents = parts.dropFirst().map { $0.drop { "+-".utf8.contains($0) } }
        guard (places + exponents).allSatisfy({ $0.allSatisfy(\.isDigit) }), places.contains(where: { !$0.isEmpty }),
            isInteger ? places.count + exponents.count == 1 : places.count <= 2
        else { throw Refusal(message: "invalid number") }
        if isInteger {
            guard let number = Int64(digits) else {
                throw Refusal(message: "unable to parse integer \(digits): \(outOfRange(digits))")
            }
            return InfluxPoint.Field(kind: .integer, value: .integer(number))
        }
        guard let number = Double(digits), number.isFinite else { throw Refusal(message: "invalid float") }
        return InfluxPoint.Field(kind: .float, value: .number(number))
    }

    /// The words of the server's library for a number that does not fit 64 bits.
    private static func outOfRange(_ digits: Substring) -> String {
        "strconv.ParseInt: parsing \"\(digits)\": value out of range"
    }

    /// Reads a string field up to a comma or a blank outside of quotes; `\"` and `\\` are the only escapes. Like the server,
    /// takes the last character for the closing quote, whatever it is.
    private mutating func quoted() throws(Refusal) -> String {
        var text = String.UnicodeScalarView()
        var isQuoted = false
        while let character = rest.first, isQuoted || (character != "," && character != " ") {
            rest = rest.dropFirst()
            if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
                text.append(next)
                rest = rest.dropFirst()
                continue
            }
            if character == "\"" { isQuoted.toggle() }
            text.append(character)
        }
        guard !isQuoted else { throw Refusal(message: "unbalanced quotes") }
        return String(text.dropFirst().dropLast())
    }

    /// Reads the timestamp, if there is one, and scales it to nanoseconds.
    private mutating func time() throws(Refusal) -> Int64? {
        let text = Substring(rest.prefix { $0 != " " })
        if text.isEmpty { return nil }
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { throw Refusal(message: "bad timestamp") }
        guard rest.dropFirst(text.unicodeScalars.count).allSatisfy({ $0 == " " }) else {
            throw Refusal(message: "point is invalid")
        }
        guard let number = Int64(text) else { throw Refusal(message: Self.outOfRange(text)) }
        let (time, overflows) = number.multipliedReportingOverflow(by: unit)
        guard !overflows, (Int64.min + 2...Int64.max - 1).contains(time) else {
            throw Refusal(message: "time outside range -9223372036854775806 - 9223372036854775806")
        }
        return time
    }

    /// Reads a name up to one of `ends`; a backslash escapes a comma, a space or an equals sign. In a field's key, a backslash
    /// before any other character stays, and that character belongs to the key whatever it is.
    private mutating func token(until ends: Set<Unicode.Scalar>, isFieldKey: Bool = false) -> String {
        var token = String.UnicodeScalarView()
        while let character = rest.first, !ends.contains(character) {
            rest = rest.dropFirst()
            let next = character == "\\" ? rest.first : nil
            let isEscape = next == "," || next == " " || next == "="
            if !isEscape { token.append(character) }
            if let next, isEscape || isFieldKey {
                token.append(next)
                rest = rest.dropFirst()
            }
        }
        return String(token)
    }

    /// Reads `character` if it is next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Skips spaces.
    private mutating func skipBlanks() {
        rest = rest.drop { $0 == " " }
    }
}
