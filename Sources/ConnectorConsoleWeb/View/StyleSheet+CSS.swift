// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension StyleSheet {
    /// The CSS rules of all styles. Colors are CSS variables, which differ in light and dark mode.
    ///
    /// Inheritance is resolved here, so a text needs only one class.
    var css: String {
        names.sorted { $0.name < $1.name }.map { name in
            let style = resolved(name)
            var colour = style.colour?.variable ?? (style.isFaint == true ? Style.Colour.grey.variable : nil)
            var background = style.background?.variable
            if style.isReversed == true {
                (colour, background) = (background ?? "var(--card)", colour ?? "var(--ink)")
            }
            var rules: [String] = []
            if let colour { rules.append("color:\(colour)") }
            if let background { rules.append("background:\(background)") }
            if style.isBold == true { rules.append("font-weight:600") }
            if style.isUnderlined == true { rules.append("text-decoration:underline") }
            let className = Escaping.className(name.name)
            let stroke = style.colour?.variable ?? "var(--ink)"
            return ".s-\(className){\(rules.joined(separator: ";"))}.g-\(className){--stroke:\(stroke)}\n"
        }.joined()
    }
}

extension Style.Colour {
    /// The CSS variable with its shade.
    fileprivate var variable: String { "var(--\(Escaping.className(name)))" }
}
