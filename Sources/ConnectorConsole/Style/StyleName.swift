// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The name of a style, by which texts refer to it: what they mean, not how they look.
public struct StyleName: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, also as the class of a page's element.
    public let name: String

    /// A name; an application's own needs a ``Style`` in the ``StyleSheet`` to look like anything.
    public init(_ name: String) { self.name = name }

    /// The name as a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// Text without a meaning of its own.
    public static let text: StyleName = "text"
    /// What stands out.
    public static let strong: StyleName = "strong"
    /// What explains, and may be overlooked.
    public static let muted: StyleName = "muted"
    /// The title of a component.
    public static let title: StyleName = "title"
    /// The heading of a column.
    public static let heading: StyleName = "heading"
    /// What leads somewhere.
    public static let link: StyleName = "link"
    /// What works.
    public static let good: StyleName = "good"
    /// What needs attention.
    public static let warning: StyleName = "warning"
    /// What is broken.
    public static let bad: StyleName = "bad"
    /// The bar with the tabs.
    public static let bar: StyleName = "bar"
    /// The tab that is shown.
    public static let current: StyleName = "current"
    /// The row that keys act on.
    public static let selected: StyleName = "selected"
    /// What is in front of everything else.
    public static let overlay: StyleName = "overlay"
}
