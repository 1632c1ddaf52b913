// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension StyleSheet {
    /// The CSS rules of every style. Colours are variables of the page, which differ in light and dark mode.
    ///
    /// Inheritance is resolved here, so that a text has one class.
    var css: String {
        names.sorted { $0.name < $1.name }.map { name in
            let style = resolved(name)
            var rules: [String] = []
            if let colour = style.colour { rules.append("color:var(--\(Escaping.className(colour.name)))") }
            if let colour = style.background { rules.append("background:var(--\(Escaping.className(colour.name)))") }
            if style.isBold == true { rules.append("font-weight:600") }
            if style.isFaint == true, style.colour == nil { rules.append("color:var(--grey)") }
            if style.isUnderlined == true { rules.append("text-decoration:underline") }
            let className = Escaping.className(name.name)
            let stroke = style.colour.map { "var(--\(Escaping.className($0.name)))" } ?? "var(--ink)"
            return ".s-\(className){\(rules.joined(separator: ";"))}.g-\(className){--stroke:\(stroke)}\n"
        }.joined()
    }
}
