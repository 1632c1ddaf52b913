// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One series of a metric at one moment.
package struct MetricSample: Sendable {
    /// The metric.
    package var definition: MetricDefinition
    /// The attributes that identify the series within the metric.
    package var attributes: [(name: String, value: String)]
    /// The value.
    package var value: Value
    /// The part of a count from before this host, which the application's metrics system does not get.
    package var past: UInt64

    /// A value of a metric.
    package enum Value: Sendable, Hashable {
        /// A count.
        case count(UInt64)
        /// A floating-point number.
        case number(Double)
        /// The distribution of durations.
        case histogram(DurationHistogram)
    }

    /// Creates a sample.
    package init(
        _ definition: MetricDefinition,
        _ attributes: [(name: String, value: String)],
        _ value: Value,
        past: UInt64 = 0
    ) {
        self.definition = definition
        self.attributes = attributes
        self.value = value
        self.past = past
    }
}
