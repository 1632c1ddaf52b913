// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The look of a text; attributes that are nil are inherited from the parent.
public struct Style: Sendable, Hashable {
    /// The style that this one inherits from; nil for none.
    public var parent: StyleName?
    /// The foreground color.
    public var colour: Colour?
    /// The background color.
    public var background: Colour?
    /// Whether the text is bold.
    public var isBold: Bool?
    /// Whether the text is dimmed.
    public var isFaint: Bool?
    /// Whether the text is underlined.
    public var isUnderlined: Bool?
    /// Whether foreground and background are swapped.
    public var isReversed: Bool?
    /// The gap between columns, in characters.
    public var gap: Int?

    /// Creates a style with only the given attributes.
    public init(
        parent: StyleName? = nil,
        colour: Colour? = nil,
        background: Colour? = nil,
        isBold: Bool? = nil,
        isFaint: Bool? = nil,
        isUnderlined: Bool? = nil,
        isReversed: Bool? = nil,
        gap: Int? = nil
    ) {
        self.parent = parent
        self.colour = colour
        self.background = background
        self.isBold = isBold
        self.isFaint = isFaint
        self.isUnderlined = isUnderlined
        self.isReversed = isReversed
        self.gap = gap
    }

    /// This style, with missing attributes taken from another one.
    public func filled(from other: Style) -> Style {
        Style(
            parent: parent,
            colour: colour ?? other.colour,
            background: background ?? other.background,
            isBold: isBold ?? other.isBold,
            isFaint: isFaint ?? other.isFaint,
            isUnderlined: isUnderlined ?? other.isUnderlined,
            isReversed: isReversed ?? other.isReversed,
            gap: gap ?? other.gap
        )
    }

    /// A named color; each platform has its own shade of it, for light and dark backgrounds.
    public struct Colour: Sendable, Hashable {
        /// The name.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// Healthy.
        public static let green = Colour("green")
        /// Needs attention.
        public static let yellow = Colour("yellow")
        /// Failed.
        public static let red = Colour("red")
        /// A link.
        public static let blue = Colour("blue")
        /// A title.
        public static let cyan = Colour("cyan")
        /// Secondary text.
        public static let grey = Colour("grey")
    }
}
