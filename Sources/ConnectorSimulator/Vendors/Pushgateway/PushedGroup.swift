// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What was pushed to one group of a Pushgateway.
struct PushedGroup: Sendable {
    /// The labels that the path names.
    var labels: [String: String]
    /// The metrics by name.
    var metrics: [String: PushedMetric]
    /// The time of the last push.
    var pushedAt: Timestamp

    /// The group as an element of `/api/v1/metrics`.
    var json: JSONValue {
        var object: JSONObject = ["labels": Self.json(labels), "last_push_successful": true]
        for (name, metric) in metrics {
            let samples = metric.samples.map { sample -> JSONValue in
                ["labels": Self.json(sample.labels), "value": .string(sample.value)]
            }
            object[name] = [
                "time_stamp": .string("\(pushedAt)"), "type": .string(metric.type.uppercased()),
                "metrics": .array(samples),
            ]
        }
        return .object(object)
    }

    /// Groups in the text format, which has all samples of a metric together.
    static func text(of groups: some Sequence<PushedGroup>) -> String {
        var families: [String: (type: String, lines: [String])] = [:]
        for (name, metric) in groups.flatMap(\.metrics) {
            let lines = metric.samples.map { sample in
                let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }
                return "\(name){\(labels.joined(separator: ","))} \(sample.value)\n"
            }
            families[name, default: (metric.type, [])].lines += lines
        }
        return families.sorted { $0.key < $1.key }.map { name, family in
            "# TYPE \(name) \(family.type)\n\(family.lines.sorted().joined())"
        }.joined()
    }

    /// The value of a label as the text format has it.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            case "\\", "\"": escaped.append(contentsOf: ["\\", scalar])
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// Labels in the order of their names.
    private static func json(_ labels: [String: String]) -> JSONValue {
        .object(JSONObject(labels.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }
}
