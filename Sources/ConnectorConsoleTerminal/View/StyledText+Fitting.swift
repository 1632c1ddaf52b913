// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

extension StyledText {
    /// The text as the terminal shows it, without control characters.
    func displayed(_ palette: TerminalPalette) -> StyledText {
        var text = self
        for index in text.spans.indices {
            text.spans[index].text = text.spans[index].text.displayed(isUnicode: palette.isUnicode)
        }
        return text
    }

    /// The width in columns of a text returned by ``displayed(_:)``.
    var columns: Int { spans.reduce(0) { $0 + CharacterWidth.columns(of: $1.text) } }

    /// The text in exactly this many columns: truncated with an ellipsis, or padded with spaces.
    func fitted(to width: Int, isNumber: Bool, _ palette: TerminalPalette) -> StyledText {
        let own = columns
        guard own > width else {
            let blanks = StyledText(String(repeating: " ", count: width - own))
            return isNumber ? blanks + self : self + blanks
        }
        let ellipsis = palette.isUnicode ? "…" : "..."
        guard width > ellipsis.count else { return StyledText(String(repeating: " ", count: width)) }
        let cut = prefix(columns: width - ellipsis.count)
        let sum = cut.text + StyledText(ellipsis, .muted)
        return sum + StyledText(String(repeating: " ", count: width - ellipsis.count - cut.columns))
    }

    /// The longest prefix of the text that fits into some columns.
    private func prefix(columns limit: Int) -> (text: StyledText, columns: Int) {
        var (head, used) = (StyledText(""), 0)
        for span in spans {
            var text = ""
            for character in span.text {
                let columns = CharacterWidth.columns(of: character)
                guard used + columns <= limit else { return (head + StyledText(text, span.style), used) }
                text.append(character)
                used += columns
            }
            head = head + StyledText(text, span.style)
        }
        return (head, used)
    }

    /// The text in lines of at most this many columns, broken between words where possible.
    func wrapped(to width: Int) -> [StyledText] {
        guard columns > width, width > 0 else { return [self] }
        var lines: [StyledText] = []
        var (line, used) = (StyledText(""), 0)
        for span in spans {
            for word in span.words {
                var rest = StyledText(word, span.style)
                if used > 0, used + rest.columns > width {
                    lines.append(line)
                    (line, used) = (StyledText(""), 0)
                    // Drop the space at which the line was broken.
                    if word == " " { continue }
                }
                while rest.columns > width {
                    let head = rest.prefix(columns: width).text
                    guard !head.isEmpty else { break }
                    lines.append(head)
                    rest = StyledText(String(rest.text.dropFirst(head.text.count)), span.style)
                }
                line = line + rest
                used += rest.columns
            }
        }
        return used > 0 || lines.isEmpty ? lines + [line] : lines
    }
}

extension StyledText.Span {
    /// Words and single spaces, which together make up the text.
    fileprivate var words: [String] {
        var words: [String] = []
        var word = ""
        for character in text {
            if character == " " {
                if !word.isEmpty { words.append(word) }
                words.append(" ")
                word = ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}
