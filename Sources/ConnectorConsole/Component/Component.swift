// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A part of a scene: a tree, a table, a chart, or a kind that an application registered.
///
/// Every component consists of rows of cells and, optionally, series of numbers. Any platform can therefore draw any component,
/// even of an unknown kind, and two components differ only in their rows and numbers.
public struct Component: Sendable, Hashable, Identifiable {
    /// Unique in the scene, and stable for as long as the component is shown.
    public internal(set) var id: String
    /// The kind, for platforms that draw it specially.
    public let kind: ComponentKind
    /// How platforms that do not know the kind draw it.
    public let shape: Shape
    /// The title above it; empty for none.
    public var title: String
    /// The column headings; empty for none.
    public var columns: [Column] = []
    /// The rows, from the top.
    public var rows: [Row] = []
    /// The numbers of a chart, oldest first.
    public var series: [Series] = []
    /// The time between two numbers of a chart; nil if they are not evenly spaced.
    public var interval: Duration?
    /// The unit of a chart's numbers; empty for counts.
    public var unit = ""
    /// The form; the rows show its fields.
    public var form: SceneForm?
    /// Whether its contents are loaded, loading, empty, failed or pending.
    public var state = ViewState.loaded
    /// The scenes mounted in it, which take its place: see ``SceneContext/slot(_:title:_:selected:)``.
    var slot: MountedSlot?

    /// Creates an empty component, which a ``ComponentDescriptor`` fills.
    public init(id: String, kind: ComponentKind, shape: Shape, title: String = "") {
        self.id = id
        self.kind = kind
        self.shape = shape
        self.title = title
    }

    /// How far back the numbers reach, such as `12 min`; nil if they are not evenly spaced.
    package var span: String? {
        let count = series.map(\.values.count).max() ?? 0
        guard let interval, count > 0 else { return nil }
        let seconds = Int(clamping: (interval * count).components.seconds)
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(minutes) min"
        default: return minutes == 0 ? "\(hours) h" : "\(hours) h \(minutes) min"
        }
    }

    /// A chart's number in readable form, with its unit: `1.25`, `38 ms`, `12 k`.
    package func number(_ value: Double) -> String {
        guard value.isFinite else { return "?" }
        // Clamped, so that the text fits an axis and the conversion to Int cannot trap.
        let magnitude = min(value.magnitude, 1e12)
        let text =
            switch magnitude {
            case 1_000_000...: "\(Int(magnitude / 1_000_000)) M"
            case 10_000...: "\(Int(magnitude / 1000)) k"
            case 10...: "\(Int(magnitude.rounded()))"
            default: Self.short(magnitude)
            }
        return (value < 0 && text != "0" ? "-" : "") + text + (unit.isEmpty ? "" : " \(unit)")
    }

    /// A number below 10 with at most two digits after the point.
    private static func short(_ magnitude: Double) -> String {
        let hundredths = Int((magnitude * 100).rounded())
        let (whole, rest) = (hundredths / 100, hundredths % 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// The heading of a column.
    public struct Column: Sendable, Hashable {
        /// The heading.
        public var title: String
        /// Whether its cells are numbers, which are right-aligned.
        public var isNumber: Bool

        /// Creates a column.
        public init(_ title: String, isNumber: Bool = false) {
            self.title = title
            self.isNumber = isNumber
        }
    }

    /// Numbers over time.
    public struct Series: Sendable, Hashable {
        /// What the numbers measure.
        public var name: String
        /// The style, which conveys what the numbers mean.
        public var style: StyleName
        /// The numbers, oldest first.
        public var values: [Double]

        /// Creates a series.
        public init(_ name: String, _ style: StyleName = .text, _ values: [Double]) {
            self.name = name
            self.style = style
            self.values = values
        }
    }

    /// A way to draw rows.
    public struct Shape: Sendable, Hashable {
        /// The name, which is also the class of its element on a web page.
        public let name: String

        /// Rows nested by depth.
        public static let tree = Shape(name: "tree")
        /// Rows below headings.
        public static let table = Shape(name: "table")
        /// A label and a value in each row.
        public static let details = Shape(name: "details")
        /// A time and an event in each row, oldest first.
        public static let timeline = Shape(name: "timeline")
        /// Lines, newest last, scrolled so that the last stays visible.
        public static let log = Shape(name: "log")
        /// Lines, read from the first.
        public static let text = Shape(name: "text")
        /// A field in each row: its name, its value, and what it accepts.
        public static let form = Shape(name: "form")
        /// One sentence in each row.
        public static let notice = Shape(name: "notice")
        /// Numbers over time.
        public static let chart = Shape(name: "chart")
        /// An act in each row: its label, and what it does.
        public static let buttons = Shape(name: "buttons")
        /// A scene of a slot in each row, with the link that selects it.
        public static let tabs = Shape(name: "tabs")
    }
}

/// The kind of a component.
public struct ComponentKind: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, such as `table` or an application's `calculator.history`.
    public let name: String

    /// Creates a kind by its name.
    public init(_ name: String) { self.name = name }

    /// Creates a kind by its name.
    public init(stringLiteral name: String) { self.name = name }
}
