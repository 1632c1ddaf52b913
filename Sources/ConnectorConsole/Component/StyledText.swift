// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text in pieces, each with the style of its meaning.
///
/// What plugins and vendors say may hold any character: it is text, never markup. A platform escapes it when it draws.
public struct StyledText: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The pieces, from left to right.
    public var spans: [Span]

    /// A piece of a text.
    public struct Span: Sendable, Hashable {
        /// What it says.
        public var text: String
        /// What it means.
        public var style: StyleName
    }

    /// A text of one style.
    public init(_ text: String, _ style: StyleName = .text) {
        spans = text.isEmpty ? [] : [Span(text: text, style: style)]
    }

    /// A text without a meaning of its own.
    public init(stringLiteral text: String) { self.init(text) }

    /// The text without its styles.
    public var text: String { spans.map(\.text).joined() }

    /// Whether there is nothing to read.
    public var isEmpty: Bool { spans.isEmpty }

    /// One text after another.
    public static func + (left: StyledText, right: StyledText) -> StyledText {
        var sum = left
        sum.spans += right.spans
        return sum
    }
}
