// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A part of a scene: a tree, a table, a chart, or what an application registered.
///
/// Every component is rows of cells, and perhaps series of numbers. So each platform draws all of them, also those that it
/// has never heard of, and what changed between two of them is rows.
public struct Component: Sendable, Hashable, Identifiable {
    /// Unique in the scene, and the same as long as it is the same component.
    public let id: String
    /// What it is, for platforms that draw this kind in a way of their own.
    public let kind: ComponentKind
    /// How the others draw it.
    public let shape: Shape
    /// What stands above it; empty for nothing.
    public var title: String
    /// The headings of the cells; none for components without.
    public var columns: [Column] = []
    /// What it shows, from the top.
    public var rows: [Row] = []
    /// The numbers of a chart, oldest first.
    public var series: [Series] = []
    /// The time between two numbers of a chart; nil if they are not so far apart each.
    public var interval: Duration?
    /// The unit of a chart's numbers; empty for counts.
    public var unit = ""
    /// What a form asks for, and the act that it is for; the rows say the same.
    public var form: OperationForm?

    /// An empty component, to be filled by a ``ComponentDescriptor``.
    public init(id: String, kind: ComponentKind, shape: Shape, title: String = "") {
        self.id = id
        self.kind = kind
        self.shape = shape
        self.title = title
    }

    /// The heading of a column.
    public struct Column: Sendable, Hashable {
        /// The heading.
        public var title: String
        /// Whether its cells are numbers, which end at the same place.
        public var isNumber: Bool

        /// A column by its heading.
        public init(_ title: String, isNumber: Bool = false) {
            self.title = title
            self.isNumber = isNumber
        }
    }

    /// Numbers over time.
    public struct Series: Sendable, Hashable {
        /// What they count.
        public var name: String
        /// What they mean.
        public var style: StyleName
        /// The numbers, oldest first.
        public var values: [Double]

        /// Takes its parts.
        public init(_ name: String, _ style: StyleName = .text, _ values: [Double]) {
            self.name = name
            self.style = style
            self.values = values
        }
    }

    /// One of the ways to draw rows.
    public struct Shape: Sendable, Hashable {
        /// The name, also as the class of a page's element.
        public let name: String

        /// Rows below rows, by their depth.
        public static let tree = Shape(name: "tree")
        /// Rows below headings.
        public static let table = Shape(name: "table")
        /// A label and a value in each row.
        public static let details = Shape(name: "details")
        /// A time and what happened in each row, oldest first.
        public static let timeline = Shape(name: "timeline")
        /// Lines, of which the last are the newest and kept in sight.
        public static let log = Shape(name: "log")
        /// A field in each row: its name, its value, and what it takes.
        public static let form = Shape(name: "form")
        /// Sentences.
        public static let notice = Shape(name: "notice")
        /// Numbers over time.
        public static let chart = Shape(name: "chart")
    }
}

/// What a component is.
public struct ComponentKind: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, such as `table` or an application's `calculator.history`.
    public let name: String

    /// A kind by its name.
    public init(_ name: String) { self.name = name }

    /// A kind by its name.
    public init(stringLiteral name: String) { self.name = name }
}
