// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads Prometheus's text format, `name{label="value"} 1`, line by line.
struct PushedText {
    /// The unread rest of the line, by code point.
    private var rest: Substring.UnicodeScalarView
    /// The number of the line, from 1.
    private let line: Int

    /// The metrics in a text.
    ///
    /// - Throws: A ``Refusal`` in the gateway's words, with the number of the line.
    static func metrics(in text: String, group: [String: String]) throws(Refusal) -> [String: PushedMetric] {
        var metrics: [String: PushedMetric] = [:]
        var types: [String: String] = [:]
        let lines = text.split(ascii: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            var parser = PushedText(rest: line.unicodeScalars, line: index + 1)
            parser.skipBlanks()
            guard index < lines.count - 1 else {
                // Also a comment, and also a blank, must end.
                guard line.isEmpty else { throw parser.refusal("unexpected end of input stream") }
                break
            }
            if parser.skip("#") {
                guard let (name, type) = try parser.type() else { continue }
                guard metrics[name] == nil, types.updateValue(type, forKey: name) == nil else {
                    throw parser.refusal(
                        "second TYPE line for metric name \"\(name)\", or TYPE reported after samples"
                    )
                }
            } else if !parser.rest.isEmpty {
                let (name, labels, value) = try parser.sample()
                metrics[name, default: PushedMetric(type: types[name] ?? "untyped")].add(labels, value, group: group)
            }
        }
        return metrics
    }

    /// Reads the rest of a comment; nil if it is not `TYPE name type`.
    private mutating func type() throws(Refusal) -> (name: String, type: String)? {
        skipBlanks()
        guard token() == "TYPE" else { return nil }
        skipBlanks()
        let name = word(":")
        skipBlanks()
        guard !name.isEmpty, !rest.isEmpty else { return nil }
        let type = String(rest)
        guard PushedMetric.types.contains(type.lowercased()) else {
            throw refusal("unknown metric type \"\(type)\"")
        }
        return (name, type.lowercased())
    }

    /// Reads a line that is not a comment.
    private mutating func sample() throws(Refusal) -> (name: String, labels: [String: String], value: Double) {
        let name = word(":")
        guard !name.isEmpty else { throw refusal("invalid metric name") }
        skipBlanks()
        let labels = skip("{") ? try labels(of: name) : [:]
        skipBlanks()
        let digits = token()
        // Swift also reads hexadecimal numbers.
        guard !digits.contains(where: { "xXpP".contains($0) }), let value = Double(digits) else {
            throw refusal("expected float as value, got \"\(digits)\"")
        }
        guard !rest.isEmpty else { return (name, labels, value) }
        skipBlanks()
        let stamp = token()
        guard Int64(stamp) != nil else { throw refusal("expected integer as timestamp, got \"\(stamp)\"") }
        guard rest.isEmpty else { throw refusal("spurious string after timestamp: \"\(String(rest))\"") }
        throw PushedMetric.inconsistent("pushed metrics must not have timestamps")
    }

    /// Reads labels up to the closing brace.
    private mutating func labels(of metric: String) throws(Refusal) -> [String: String] {
        var labels: [String: String] = [:]
        while true {
            skipBlanks()
            if skip("}") { return labels }
            let label = word("")
            guard !label.isEmpty else { throw refusal("invalid label name for metric \"\(metric)\"") }
            guard label != "__name__" else { throw refusal("label name \"__name__\" is reserved") }
            skipBlanks()
            guard skip("=") else { throw refusal("expected '=' after label name, found \(found)") }
            skipBlanks()
            guard skip("\"") else { throw refusal("expected '\"' at start of label value, found \(found)") }
            let value = try value()
            guard labels.updateValue(value, forKey: label) == nil else {
                throw refusal("duplicate label names for metric \"\(metric)\"")
            }
            skipBlanks()
            guard skip(",") || rest.first == "}" else { throw refusal("unexpected end of label value \"\(value)\"") }
        }
    }

    /// Reads a label's value up to its closing quote.
    private mutating func value() throws(Refusal) -> String {
        var value = String.UnicodeScalarView()
        while let character = rest.popFirst() {
            if character == "\"" { return String(value) }
            guard character == "\\" else {
                value.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n": value.append("\n")
            case let escaped? where escaped == "\\" || escaped == "\"": value.append(escaped)
            default: throw refusal("invalid escape sequence")
            }
        }
        throw refusal("label value has no end")
    }

    /// Reads a name: word characters and `others`, of which the first is no digit.
    private mutating func word(_ others: String) -> String {
        guard rest.first.map({ ("0"..."9").contains($0) }) != true else { return "" }
        let word = rest.prefix {
            others.unicodeScalars.contains($0) || $0.isASCII && UInt8(ascii: $0).isWordCharacter
        }
        rest = rest.dropFirst(word.count)
        return String(word)
    }

    /// Reads up to a blank.
    private mutating func token() -> String {
        let token = rest.prefix { $0 != " " && $0 != "\t" }
        rest = rest.dropFirst(token.count)
        return String(token)
    }

    /// The next character, in quotes.
    private var found: String { "'\(rest.first.map { String($0) } ?? "")'" }

    /// Reads a character if it is next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Skips spaces and tabs.
    private mutating func skipBlanks() {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }

    /// A refusal with the number of the line.
    private func refusal(_ message: String) -> Refusal {
        Refusal(message: "text format parsing error in line \(line): \(message)")
    }
}
