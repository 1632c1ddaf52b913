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
    /// Where a count that outlasts its gate began: the paths it has had, the present one first, each with the count from before this
    /// host, which the application's metrics system does not get; nil if there was none. Empty for any other value.
    package var origins: [(path: String, past: UInt64?)]

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
        origins: [(path: String, past: UInt64?)] = []
    ) {
        self.definition = definition
        self.attributes = attributes
        self.value = value
        self.origins = origins
    }
}
