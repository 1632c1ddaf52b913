// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The styles of a console by name.
public struct StyleSheet: Sendable, Hashable {
    private var styles: [StyleName: Style]

    /// Creates a style sheet from named styles.
    public init(_ styles: [StyleName: Style]) { self.styles = styles }

    /// The style with a name, without inherited attributes. Changing it affects every style that inherits from it.
    public subscript(name: StyleName) -> Style? {
        get { styles[name] }
        set { styles[name] = newValue }
    }

    /// The names of all styles.
    package var names: [StyleName] { Array(styles.keys) }

    /// A style with its inherited attributes. Unknown names and cycles of parents end the inheritance.
    public func resolved(_ name: StyleName) -> Style {
        var style = Style()
        var seen: Set<StyleName> = []
        var next: StyleName? = name
        while let name = next, seen.insert(name).inserted, let found = styles[name] {
            style = style.filled(from: found)
            next = found.parent
        }
        return style
    }

    /// The styles of the host's own scenes.
    public static let standard = StyleSheet([
        .text: Style(gap: 2),
        .strong: Style(parent: .text, isBold: true),
        .muted: Style(parent: .text, colour: .grey, isFaint: true),
        .title: Style(parent: .strong, colour: .cyan),
        .heading: Style(parent: .muted, isUnderlined: true),
        .link: Style(parent: .text, colour: .blue),
        .good: Style(parent: .text, colour: .green),
        .warning: Style(parent: .text, colour: .yellow),
        .bad: Style(parent: .strong, colour: .red),
        .bar: Style(parent: .text, isReversed: true),
        .current: Style(parent: .bar, isBold: true, isReversed: false),
        .selected: Style(parent: .text, isReversed: true),
        .overlay: Style(parent: .text),
    ])
}
