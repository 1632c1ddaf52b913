// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The measurements of one thing, one from each round.
struct Samples {
    private(set) var values: [Double] = []

    /// Adds the measurement of one round.
    mutating func add(_ value: Double) {
        values.append(value)
    }

    /// The value in the middle; 0 without any.
    var median: Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The lowest one, which other work of the machine disturbed least.
    var min: Double { values.min() ?? 0 }

    /// The highest one.
    var max: Double { values.max() ?? 0 }

    /// As the results show them.
    var json: JSONValue {
        [
            "median": .number(median), "min": .number(min), "max": .number(max),
            "rounds": .integer(Int64(values.count)),
        ]
    }
}
