// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How a text looks, as far as a style says it; what it leaves open comes from its parent.
public struct Style: Sendable, Hashable {
    /// The style that this one inherits from; nil for none.
    public var parent: StyleName?
    /// The colour of the letters.
    public var colour: Colour?
    /// The colour behind them.
    public var background: Colour?
    /// Whether the letters are heavier.
    public var isBold: Bool?
    /// Whether the letters are paler.
    public var isFaint: Bool?
    /// Whether the letters are underlined.
    public var isUnderlined: Bool?
    /// Whether letters and background change their colours.
    public var isReversed: Bool?
    /// How many character widths there are between columns.
    public var gap: Int?

    /// A style that says nothing but what is given.
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

    /// This style, with what it leaves open taken from another one.
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

    /// A colour by its name; each platform has its own shade of it, for light and for dark.
    public struct Colour: Sendable, Hashable {
        /// The name.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// What works.
        public static let green = Colour("green")
        /// What needs attention.
        public static let yellow = Colour("yellow")
        /// What is broken.
        public static let red = Colour("red")
        /// What leads somewhere.
        public static let blue = Colour("blue")
        /// What belongs together.
        public static let cyan = Colour("cyan")
        /// What explains.
        public static let grey = Colour("grey")
    }
}
