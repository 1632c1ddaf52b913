// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with control characters escaped, and characters that the display cannot show replaced.
    ///
    /// Every text from a file, a plugin or a server goes through this before it reaches a terminal.
    ///
    /// - Parameter isUnicode: Whether the display shows characters beyond ASCII.
    package func displayed(isUnicode: Bool) -> String {
        let isHarmless = unicodeScalars.allSatisfy { !$0.isHidden && (isUnicode || $0.isASCII) }
        guard !isHarmless else { return self }
        var shown = ""
        for scalar in unicodeScalars {
            if scalar.isHidden {
                shown += scalar == "\n" || scalar == "\t" ? " " : "\\u{\(String(scalar.value, radix: 16))}"
            } else if isUnicode || scalar.isASCII {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += Self.replacements[scalar] ?? "?"
            }
        }
        return shown
    }

    /// ASCII replacements for the characters that the program itself uses.
    private static let replacements: [Unicode.Scalar: String] = [
        "µ": "u", "…": "...", "—": "-", "–": "-", "→": "->", "•": "*", "“": "\"", "”": "\"",
        "✓": "+", "✗": "x", "·": "-", "│": "|", "─": "-", "├": "|", "└": "`", "┌": "+", "┐": "+", "┘": "+",
        "▁": "_", "▂": "_", "▃": ".", "▄": "-", "▅": "-", "▆": "=", "▇": "=", "█": "#",
    ]
}
