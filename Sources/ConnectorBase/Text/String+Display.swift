// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with control characters escaped, and characters that the display cannot show replaced.
    ///
    /// Every text from a file, a plugin or a server goes through this before it reaches a terminal.
    ///
    /// - Parameter isUnicode: Whether the display shows characters beyond ASCII.
    package func displayed(isUnicode: Bool) -> String {
        let isHarmless = unicodeScalars.allSatisfy { !$0.lacksGlyph && (isUnicode || $0.isASCII) }
        guard !isHarmless else { return self }
        var shown = ""
        forEachScalar { scalar, isHidden in
            if isHidden {
                shown += scalar == "\n" || scalar == "\t" ? " " : "\\u{\(String(scalar.value, radix: 16))}"
            } else if isUnicode || scalar.isASCII {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += Self.replacements[scalar] ?? "?"
            }
        }
        return shown
    }

    /// Calls a function with each character, and whether it cannot be seen as it is, so that another text would look the same.
    ///
    /// What has no glyph of its own can be seen where it shapes its neighbors, as in pictures of several people.
    package func forEachScalar(_ body: (_ scalar: Unicode.Scalar, _ isHidden: Bool) -> Void) {
        let scalars = unicodeScalars
        var previous: Unicode.Scalar?
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            scalars.formIndex(after: &index)
            let next = index < scalars.endIndex ? scalars[index] : nil
            let isHidden = scalar.lacksGlyph && !scalar.shapes(previous, next)
            body(scalar, isHidden)
            previous = isHidden ? nil : scalar
        }
    }

    /// Whether some character cannot be seen as it is.
    package var hasHiddenCharacters: Bool {
        guard unicodeScalars.contains(where: \.lacksGlyph) else { return false }
        var isHiding = false
        forEachScalar { _, isHidden in isHiding = isHiding || isHidden }
        return isHiding
    }

    /// ASCII replacements for the characters that the program itself uses.
    private static let replacements: [Unicode.Scalar: String] = [
        "µ": "u", "…": "...", "—": "-", "–": "-", "→": "->", "•": "*", "“": "\"", "”": "\"",
        "✓": "+", "✗": "x", "·": "-", "│": "|", "─": "-", "├": "|", "└": "`", "┌": "+", "┐": "+", "┘": "+",
        "▁": "_", "▂": "_", "▃": ".", "▄": "-", "▅": "-", "▆": "=", "▇": "=", "█": "#",
    ]
}
