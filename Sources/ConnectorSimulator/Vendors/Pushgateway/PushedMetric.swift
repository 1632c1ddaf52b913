// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// A metric as pushed, with the samples of one group.
struct PushedMetric: Sendable {
    /// One line's labels and value.
    struct Sample: Sendable {
        /// The labels, with those of the group.
        var labels: [String: String]
        /// The value as the gateway writes it.
        var value: String
    }

    /// The types of metrics, in the order of their numbers in protocol buffers.
    static let types = ["counter", "gauge", "summary", "untyped", "histogram"]

    /// One of ``types``; `untyped` if the push does not name it.
    var type: String
    /// The samples, no two of which have the same labels.
    var samples: [Sample] = []

    /// Adds a sample to those of a group.
    ///
    /// - Parameter group: The labels of the group, which override those of the sample. Like the gateway, adds an empty `instance`.
    mutating func add(_ labels: [String: String], _ value: Double, group: [String: String]) {
        let all = ["instance": ""].merging(labels) { $1 }.merging(group) { $1 }
        samples.append(Sample(labels: all, value: Self.text(of: value)))
    }

    /// Reads what was pushed.
    ///
    /// - Parameter group: The labels of the group.
    /// - Throws: A ``Refusal`` in the gateway's words.
    static func pushed(by request: SimulatedRequest, to group: [String: String]) throws(Refusal) -> [String:
        PushedMetric]
    {
        let metrics: [String: PushedMetric]
        let type = request.fields["Content-Type"] ?? ""
        if type.mediaType == "application/vnd.google.protobuf", type.contains(ascii: "encoding=delimited") {
            metrics = try PushedMessages.metrics(in: request.body, group: group)
        } else {
            metrics = try PushedText.metrics(in: request.text, group: group)
        }
        for (name, metric) in metrics {
            let labels = metric.samples.flatMap { Array($0.labels.keys) }
            if let label = labels.first(where: { $0.starts(ascii: "__") }) {
                throw inconsistent("collected metric \"\(name)\" has a label with an invalid name: \(label)")
            }
            guard Set(metric.samples.map { $0.labels.mapValues(ExactText.init) }).count == metric.samples.count else {
                throw inconsistent(
                    "collected metric \"\(name)\" was collected before with the same name and label values"
                )
            }
        }
        return metrics
    }

    /// The refusal of metrics that do not fit together.
    static func inconsistent(_ message: String) -> Refusal {
        Refusal(message: "pushed metrics are invalid or inconsistent with existing metrics: \(message)")
    }

    /// A number as Go writes it: `1e+06` from a million on.
    static func text(of number: Double) -> String {
        guard number.isFinite else { return number.isNaN ? "NaN" : number < 0 ? "-Inf" : "+Inf" }
        guard number != 0 else { return "0" }
        let parts = "\(number.magnitude)".split(ascii: "e")
        let places = parts[0].split(ascii: ".")
        let zeros = places.joined().prefix { $0 == "0" }.count
        let exponent = places[0].count - 1 - zeros + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var digits = places.joined().dropFirst(zeros)
        while digits.last == "0" { digits.removeLast() }
        let sign = number < 0 ? "-" : ""
        func decimal(_ count: Int) -> String {
            let tail = digits.dropFirst(count)
            let head = digits.prefix(count) + String(repeating: "0", count: max(0, count - digits.count))
            return sign + head + (tail.isEmpty ? "" : ".\(tail)")
        }
        switch exponent {
        case -4..<0: return "\(sign)0.\(String(repeating: "0", count: -exponent - 1))\(digits)"
        case 0..<6: return decimal(exponent + 1)
        default:
            let size = abs(exponent)
            return "\(decimal(1))e\(exponent < 0 ? "-" : "+")\(size < 10 ? "0" : "")\(size)"
        }
    }
}
