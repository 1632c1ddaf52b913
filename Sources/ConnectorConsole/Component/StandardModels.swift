// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A tree: rows with children below them.
public struct TreeModel: Sendable, Hashable {
    /// The headings.
    public var columns: [Component.Column]
    /// The rows, each followed by its children.
    public var rows: [Row]

    /// Creates a tree.
    public init(_ columns: [Component.Column], _ rows: [Row]) {
        self.columns = columns
        self.rows = rows
    }
}

/// A table: rows below headings.
public struct TableModel: Sendable, Hashable {
    /// The headings.
    public var columns: [Component.Column]
    /// The rows.
    public var rows: [Row]

    /// Creates a table.
    public init(_ columns: [Component.Column], _ rows: [Row]) {
        self.columns = columns
        self.rows = rows
    }
}

/// A list of labels and values.
public struct DetailsModel: Sendable, Hashable {
    /// The rows.
    public var rows: [Row] = []

    /// Creates an empty model.
    public init() {}

    /// Appends a value, unless it is nil or empty.
    public mutating func add(_ label: String, _ value: StyledText?, link: Route? = nil) {
        guard let value, !value.isEmpty else { return }
        rows.append(Row(label, [StyledText(label, .muted), value], link: link))
    }
}

/// A list of events with their times.
public struct TimelineModel: Sendable, Hashable {
    /// The rows, oldest first.
    public var rows: [Row] = []

    /// Creates an empty model.
    public init() {}

    /// Appends an entry.
    public mutating func add(_ time: Timestamp, _ text: StyledText, link: Route? = nil) {
        rows.append(Row("\(time)#\(rows.count)", [StyledText("\(time)", .muted), text], link: link))
    }
}

/// A log of lines.
public struct LogModel: Sendable, Hashable {
    /// The rows, oldest first.
    public var rows: [Row]

    /// Creates a log.
    ///
    /// - Parameter first: The number of the first line. A line keeps its number, and so its identity, when older ones are dropped.
    public init(_ lines: [StyledText], from first: Int = 0) {
        rows = lines.enumerated().map { Row("\(first + $0.offset)", [$0.element]) }
    }
}

/// A text of lines, read from its beginning.
public struct TextModel: Sendable, Hashable {
    /// The rows, from the first line.
    public var rows: [Row]

    /// Creates a text.
    public init(_ lines: [StyledText]) {
        rows = lines.enumerated().map { Row("\($0.offset)", [$0.element]) }
    }
}

/// Buttons, each an act.
public struct ButtonsModel: Sendable, Hashable {
    /// The acts.
    public var acts: [ConsoleAct]

    /// Creates buttons.
    public init(_ acts: [ConsoleAct]) { self.acts = acts }
}

/// A notice of one or more sentences.
public struct NoticeModel: Sendable, Hashable {
    /// The sentences.
    public var lines: [StyledText]

    /// Creates a notice.
    public init(_ lines: StyledText...) { self.lines = lines }
}

/// A chart of numbers over time.
public struct ChartModel: Sendable, Hashable {
    /// The numbers.
    public var series: [Component.Series]
    /// The time between two numbers; nil if they are not evenly spaced.
    public var interval: Duration?
    /// The unit of the numbers; empty for counts.
    public var unit: String

    /// Creates a chart.
    public init(_ series: [Component.Series], every interval: Duration? = nil, unit: String = "") {
        self.series = series
        self.interval = interval
        self.unit = unit
    }

    /// The numbers reduced to at most `count`; each result is the maximum of those it replaces, so no peak is lost.
    package static func resampled(_ values: [Double], to count: Int) -> [Double] {
        guard count > 0 else { return [] }
        guard values.count > count else { return values }
        return (0..<count).map { index in
            let start = values.count * index / count
            return values[start..<(values.count * (index + 1) / count)].max() ?? 0
        }
    }
}
