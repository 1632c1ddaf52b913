// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text made of spans, each with a style that conveys its meaning.
///
/// Text from plugins and vendors may contain any character. It is never markup: a platform escapes it when drawing.
public struct StyledText: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The spans, from left to right.
    public var spans: [Span]

    /// A run of text with one style.
    public struct Span: Sendable, Hashable {
        /// The characters.
        public var text: String
        /// The style.
        public var style: StyleName
    }

    /// Creates a text in one style.
    public init(_ text: String, _ style: StyleName = .text) {
        spans = text.isEmpty ? [] : [Span(text: text, style: style)]
    }

    /// Creates a text in the plain style.
    public init(stringLiteral text: String) { self.init(text) }

    /// The text without its styles.
    public var text: String { spans.map(\.text).joined() }

    /// Whether the text has no characters.
    public var isEmpty: Bool { spans.isEmpty }

    /// Concatenates two texts.
    public static func + (left: StyledText, right: StyledText) -> StyledText {
        var sum = left
        sum.spans += right.spans
        return sum
    }
}
