// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// Rows below rows.
public struct TreeModel: Sendable, Hashable {
    /// The headings.
    public var columns: [Component.Column]
    /// The rows, each before those below it.
    public var rows: [Row]

    /// Takes its parts.
    public init(_ columns: [Component.Column], _ rows: [Row]) {
        self.columns = columns
        self.rows = rows
    }
}

/// Rows below headings.
public struct TableModel: Sendable, Hashable {
    /// The headings.
    public var columns: [Component.Column]
    /// The rows.
    public var rows: [Row]

    /// Takes its parts.
    public init(_ columns: [Component.Column], _ rows: [Row]) {
        self.columns = columns
        self.rows = rows
    }
}

/// Labels and values.
public struct DetailsModel: Sendable, Hashable {
    /// The rows.
    public var rows: [Row] = []

    /// Nothing yet.
    public init() {}

    /// Adds a value below the others; nil and empty ones are left out.
    public mutating func add(_ label: String, _ value: StyledText?, link: Route? = nil) {
        guard let value, !value.isEmpty else { return }
        rows.append(Row(label, [StyledText(label, .muted), value], link: link))
    }
}

/// What happened, and when.
public struct TimelineModel: Sendable, Hashable {
    /// The rows, oldest first.
    public var rows: [Row] = []

    /// Nothing yet.
    public init() {}

    /// Adds what happened after the others.
    public mutating func add(_ time: Timestamp, _ text: StyledText, link: Route? = nil) {
        rows.append(Row("\(time)#\(rows.count)", [StyledText("\(time)", .muted), text], link: link))
    }
}

/// Lines.
public struct LogModel: Sendable, Hashable {
    /// The rows, oldest first.
    public var rows: [Row]

    /// Lines, of which the first has a number; the number stays with the line when older ones are forgotten.
    public init(_ lines: [StyledText], from first: Int = 0) {
        rows = lines.enumerated().map { Row("\(first + $0.offset)", [$0.element]) }
    }
}

/// Sentences.
public struct NoticeModel: Sendable, Hashable {
    /// The sentences.
    public var lines: [StyledText]

    /// Takes the sentences.
    public init(_ lines: StyledText...) { self.lines = lines }
}

/// Numbers over time.
public struct ChartModel: Sendable, Hashable {
    /// The numbers.
    public var series: [Component.Series]
    /// The time between two numbers; nil if they are not so far apart each.
    public var interval: Duration?
    /// The unit of the numbers; empty for counts.
    public var unit: String

    /// Takes the numbers.
    public init(_ series: [Component.Series], every interval: Duration? = nil, unit: String = "") {
        self.series = series
        self.interval = interval
        self.unit = unit
    }

    /// Numbers for so many places: the highest of those that share one, so that no peak is lost.
    package static func resampled(_ values: [Double], to count: Int) -> [Double] {
        guard count > 0 else { return [] }
        guard values.count > count else { return values }
        return (0..<count).map { place in
            let start = values.count * place / count
            return values[start..<(values.count * (place + 1) / count)].max() ?? 0
        }
    }
}
