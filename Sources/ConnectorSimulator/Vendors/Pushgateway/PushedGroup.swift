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
                ["labels": Self.json(labels.merging(sample.labels) { $1 }), "value": .string(sample.value)]
            }
            object[name] = [
                "time_stamp": .string("\(pushedAt)"), "type": .string(metric.type.uppercased()),
                "metrics": .array(samples),
            ]
        }
        return .object(object)
    }

    /// The group in the text format, with the group's labels.
    var text: String {
        metrics.sorted { $0.key < $1.key }.map { name, metric in
            let lines = metric.samples.map { sample in
                let labels = labels.merging(sample.labels) { $1 }.sorted { $0.key < $1.key }
                return
                    "\(name){\(labels.map { "\($0.key)=\(JSONValue.string($0.value).serialized())" }.joined(separator: ","))} \(sample.value)\n"
            }
            return "# TYPE \(name) \(metric.type)\n\(lines.joined())"
        }.joined()
    }

    private static func json(_ labels: [String: String]) -> JSONValue {
        .object(JSONObject(labels.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }
}
