// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Prints measurements for people: medians, and the range in which the rounds lay.
enum Table {
    /// Prints the names of the columns.
    static func printHead() {
        row("", "host", "min … max", "beside", "median", "ratio", "goal")
    }

    /// Prints one measurement.
    static func printRow(_ measurement: Measurement) {
        let unit = measurement.unit
        row(
            measurement.title,
            text(measurement.host.median, unit),
            "\(text(measurement.host.min, unit)) … \(text(measurement.host.max, unit))",
            measurement.referenceName ?? "",
            measurement.referenceName == nil ? "" : text(measurement.reference.median, unit),
            measurement.ratio.map { decimal($0, 2) } ?? "",
            goal(measurement)
        )
    }

    private static func goal(_ measurement: Measurement) -> String {
        let limit: String
        switch measurement.goal {
        case .ratio(let ratio): limit = "≤ \(decimal(ratio, 2))×"
        case .value(let value): limit = "≤ \(text(value, measurement.unit))"
        case .more(let value): limit = "≤ +\(text(value, measurement.unit))"
        case nil: return ""
        }
        return limit + (measurement.isMet == true ? " met" : " MISSED")
    }

    private static func row(_ columns: String...) {
        let widths = [-46, 10, 24, -14, 10, 7, -17]
        let cells = zip(columns, widths).map { column, width in
            let padding = String(repeating: " ", count: max(0, abs(width) - column.count))
            return width < 0 ? column + padding : padding + column
        }
        print(cells.joined(separator: " "))
    }

    private static func text(_ value: Double, _ unit: Measurement.Unit) -> String {
        switch unit {
        case .count: return decimal(value, 0)
        case .kilobytes: return "\(decimal(value / 1024, 1)) MB"
        case .nanoseconds:
            if value < 1000 { return "\(decimal(value, 1)) ns" }
            if value < 1_000_000 { return "\(decimal(value / 1000, 1)) µs" }
            return "\(decimal(value / 1_000_000, 2)) ms"
        }
    }

    /// Writes a number that is not negative with some digits after its point.
    private static func decimal(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let rounded = Int((value * Double(scale)).rounded())
        guard digits > 0 else { return "\(rounded)" }
        let fraction = String(rounded % scale)
        return "\(rounded / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
