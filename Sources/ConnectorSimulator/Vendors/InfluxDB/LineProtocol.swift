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
            } else if character == "\n" || character == "\r", !isQuoted {
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
            guard !key.isEmpty else { throw Refusal(message: "missing field key") }
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
        switch text {
        case "t", "T", "true", "True", "TRUE": return InfluxPoint.Field(kind: .boolean, value: true)
        case "f", "F", "false", "False", "FALSE": return InfluxPoint.Field(kind: .boolean, value: false)
        case "": throw Refusal(message: "missing field value")
        default: break
        }
        if text.last == "i" {
            guard let number = Int64(text.dropLast()) else {
                throw Refusal(message: "unable to parse integer \(text.dropLast()): strconv.ParseInt: invalid syntax")
            }
            return InfluxPoint.Field(kind: .integer, value: .integer(number))
        }
        let isNumber = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        guard isNumber, let number = Double(text), number.isFinite else { throw Refusal(message: "invalid number") }
        return InfluxPoint.Field(kind: .float, value: .number(number))
    }

    /// Reads a string field; `\"` and `\\` are the only escapes.
    private mutating func quoted() throws(Refusal) -> String {
        rest = rest.dropFirst()
        var text = String.UnicodeScalarView()
        while let character = rest.popFirst() {
            if character == "\"" { return String(text) }
            if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
                text.append(next)
                rest = rest.dropFirst()
            } else {
                text.append(character)
            }
        }
        throw Refusal(message: "unbalanced quotes")
    }

    /// Reads the timestamp, if there is one, and scales it to nanoseconds.
    private mutating func time() throws(Refusal) -> Int64? {
        let text = Substring(rest).trimmingBlanks()
        if text.isEmpty { return nil }
        guard let number = Int64(text) else { throw Refusal(message: "bad timestamp") }
        let (time, overflows) = number.multipliedReportingOverflow(by: unit)
        guard !overflows else {
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
