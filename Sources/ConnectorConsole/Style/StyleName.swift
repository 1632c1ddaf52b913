// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The name of a style, which conveys what a text means, not how it looks.
public struct StyleName: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, which is also the class of its element on a web page.
    public let name: String

    /// Creates a name; an application's own name needs a ``Style`` in the ``StyleSheet``.
    public init(_ name: String) { self.name = name }

    /// Creates a name from a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// Plain text.
    public static let text: StyleName = "text"
    /// Emphasized text.
    public static let strong: StyleName = "strong"
    /// Secondary text.
    public static let muted: StyleName = "muted"
    /// The title of a component.
    public static let title: StyleName = "title"
    /// The heading of a column.
    public static let heading: StyleName = "heading"
    /// A link.
    public static let link: StyleName = "link"
    /// A healthy state.
    public static let good: StyleName = "good"
    /// A state that needs attention.
    public static let warning: StyleName = "warning"
    /// A failed state, or an error.
    public static let bad: StyleName = "bad"
    /// The bar with the tabs.
    public static let bar: StyleName = "bar"
    /// The selected tab.
    public static let current: StyleName = "current"
    /// The selected row.
    public static let selected: StyleName = "selected"
    /// A dialog in front of everything else.
    public static let overlay: StyleName = "overlay"
}
