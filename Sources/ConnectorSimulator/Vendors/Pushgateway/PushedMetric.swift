// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A metric as pushed in Prometheus's text format: `name{label="value"} 1`.
struct PushedMetric: Sendable {
    /// One line's labels and value.
    struct Sample: Sendable {
        var labels: [String: String]
        /// The value as written.
        var value: String
    }

    /// `counter`, `gauge` and so on; `untyped` if no `# TYPE` comment names it.
    var type: String
    var samples: [Sample]

    /// Parses a push.
    ///
    /// - Parameter group: The labels of the group, which override those of the lines.
    /// - Throws: A ``Refusal`` in the gateway's words; a fault in a line has the line's number.
    static func parse(_ text: String, group: [String: String]) throws(Refusal) -> [String: PushedMetric] {
        var metrics: [String: PushedMetric] = [:]
        var types: [Substring: Substring] = [:]
        guard text.isEmpty || text.utf8.last == UInt8(ascii: "\n") else {
            throw Refusal(message: "text format parsing error: unexpected end of input stream")
        }
        for (index, line) in text.split(ascii: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) { continue }
            if line.starts(ascii: "#") {
                let words = line.split(separator: " ", maxSplits: 3)
                if words.count == 4, words[1] == "TYPE" { types[words[2]] = words[3] }
                continue
            }
            var parser = Parser(rest: line.unicodeScalars, line: index + 1)
            var (name, sample) = try parser.sample()
            sample.labels.merge(group) { $1 }
            metrics[name, default: PushedMetric(type: types[name[...]].map(String.init) ?? "untyped", samples: [])]
                .samples.append(sample)
        }
        for (name, metric) in metrics where metric.hasSampleTwice {
            throw Refusal(
                message: "pushed metrics are invalid or inconsistent with existing metrics: \(name) was collected "
                    + "before with the same name and label values"
            )
        }
        return metrics
    }

    /// Whether any two samples have the same labels.
    private var hasSampleTwice: Bool {
        Set(samples.map { $0.labels.mapValues(ExactText.init) }).count != samples.count
    }

    /// Reads one line.
    private struct Parser {
        var rest: Substring.UnicodeScalarView
        let line: Int

        mutating func sample() throws(Refusal) -> (name: String, sample: Sample) {
            let name = word()
            guard !name.isEmpty else { throw refusal("invalid metric name") }
            var labels: [String: String] = [:]
            if skip("{") {
                while !skip("}") {
                    let label = word()
                    guard !label.isEmpty, skip("=") else { throw refusal("expected '=' after label name") }
                    guard skip("\"") else {
                        throw refusal(
                            "expected '\"' at start of label value, found '\(rest.first.map(String.init) ?? "")'"
                        )
                    }
                    labels[label] = try value()
                    guard skip(",") || rest.first == "}" else { throw refusal("unexpected end of label value") }
                }
            }
            let words = rest.split(separator: " ").map { String($0) }
            guard let value = words.first, Double(value) != nil else {
                throw refusal("expected float as value, got \"\(words.first ?? "")\"")
            }
            guard words.count == 1 else {
                throw Refusal(
                    message: "pushed metrics are invalid or inconsistent with existing metrics: "
                        + "pushed metrics must not have timestamps"
                )
            }
            return (name, Sample(labels: labels, value: value))
        }

        private mutating func word() -> String {
            let word = rest.prefix { $0 == ":" || $0.isASCII && UInt8(ascii: $0).isWordCharacter }
            rest = rest.dropFirst(word.count)
            return String(word)
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

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == character else { return false }
            rest = rest.dropFirst()
            return true
        }

        private func refusal(_ message: String) -> Refusal {
            Refusal(message: "text format parsing error in line \(line): \(message)")
        }
    }
}
