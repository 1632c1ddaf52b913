// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Writes metrics in the Prometheus text format, version 0.0.4.
///
/// Names follow OpenTelemetry's rules: dots become underscores, and the unit and `_total` are appended.
package enum PrometheusText {
    /// The content type of an HTTP response.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Writes samples; those of one metric must be consecutive.
    package static func write(_ samples: [MetricSample]) -> String {
        var text = ""
        var last: MetricDefinition?
        for sample in samples {
            let name = sample.definition.prometheusName
            if sample.definition != last {
                text += "# HELP \(name) \(escaped(sample.definition.help, quoted: false))\n"
                text += "# TYPE \(name) \(sample.definition.prometheusType)\n"
                last = sample.definition
            }
            switch sample.value {
            case .count(let value): text += "\(name)\(labels(sample.attributes)) \(value)\n"
            case .number(let value): text += "\(name)\(labels(sample.attributes)) \(value)\n"
            case .histogram(let histogram): write(histogram, name, sample.attributes, to: &text)
            }
        }
        return text
    }

    private static func write(
        _ histogram: DurationHistogram,
        _ name: String,
        _ attributes: [(name: String, value: String)],
        to text: inout String
    ) {
        var below: UInt64 = 0
        for (index, count) in histogram.counts.enumerated() {
            below += count
            let bound = DurationHistogram.bounds.indices.contains(index) ? "\(DurationHistogram.bounds[index])" : "+Inf"
            text += "\(name)_bucket\(labels(attributes + [("le", bound)])) \(below)\n"
        }
        text += "\(name)_sum\(labels(attributes)) \(Double(histogram.sum) / 1e9)\n"
        text += "\(name)_count\(labels(attributes)) \(below)\n"
    }

    private static func labels(_ attributes: [(name: String, value: String)]) -> String {
        let pairs = attributes.map { "\(name(of: $0.name))=\"\(escaped($0.value, quoted: true))\"" }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    /// An OpenTelemetry name in the form Prometheus accepts.
    package static func name(of name: String) -> String {
        String(name.map { $0 == "." ? "_" : $0 })
    }

    private static func escaped(_ text: String, quoted: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quoted: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

extension MetricDefinition {
    /// The name with its unit, in the form Prometheus expects.
    package var prometheusName: String {
        var name = PrometheusText.name(of: name)
        switch unit {
        case "s": name += "_seconds"
        case "By": name += "_bytes"
        default: break
        }
        return kind == .counter ? name + "_total" : name
    }

    fileprivate var prometheusType: String {
        switch kind {
        case .counter: "counter"
        case .histogram: "histogram"
        case .gauge, .upDownCounter: "gauge"
        }
    }
}
