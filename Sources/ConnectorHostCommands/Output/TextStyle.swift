// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The style of human-readable text on one stream.
struct TextStyle: Sendable, Equatable {
    /// Whether the stream shows colors.
    var isColoured = false
    /// Whether the stream shows characters beyond ASCII.
    var isUnicode = true
    /// Whether people see the stream as it is written; otherwise another program may read it.
    var isTerminal = true

    /// A color, named by its meaning; the raw value is a parameter of SGR.
    enum Colour: String {
        case good = "32"
        case bad = "31"
        case warning = "33"
        case strong = "1"
        case faint = "2"
    }

    /// The mark of a state.
    enum Mark {
        case good
        case bad
        case warning
        case none
    }
}

extension TextStyle {
    /// Detects the style of a stream.
    ///
    /// Colors require a terminal that is not `dumb`, and that NO_COLOR is not set. Characters beyond ASCII require a UTF-8 locale.
    static func detected(
        for stream: StandardStream,
        environment: Configuration.Environment = .process
    ) -> TextStyle {
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return TextStyle(
            isColoured: !isPlain && stream.isTerminal,
            isUnicode: environment.isUnicode,
            isTerminal: stream.isTerminal
        )
    }

    /// A text in a color; unchanged without one.
    func paint(_ text: String, _ colour: Colour?) -> String {
        guard isColoured, let colour, !text.isEmpty else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// The symbol of a mark.
    func sign(_ mark: Mark) -> String {
        switch mark {
        case .good: isUnicode ? "✓" : "+"
        case .bad: isUnicode ? "✗" : "x"
        case .warning: "!"
        case .none: isUnicode ? "·" : "-"
        }
    }

    /// The color of a mark.
    func colour(_ mark: Mark) -> Colour {
        switch mark {
        case .good: .good
        case .bad: .bad
        case .warning: .warning
        case .none: .faint
        }
    }

    /// The arrow before a remedy.
    var arrow: String { isUnicode ? "→" : "->" }

    /// Text from a file, a plugin or a server, with control characters and unsupported characters escaped.
    func shown(_ text: String) -> String { text.displayed(isUnicode: isUnicode) }

    /// The lines of a JSON value. Where the stream shows only ASCII, they have escapes such as `\u00fc`: the same JSON.
    func lines(of value: JSONValue) -> [String] {
        let lines = value.serialized(pretty: true).split(separator: "\n").map(String.init)
        guard !isUnicode else { return lines }
        return lines.map { line in
            line.utf16.reduce(into: "") { text, unit in
                text += unit < 0x80 ? String(decoding: [unit], as: UTF16.self) : "\\u" + unit.hexadecimal()
            }
        }
    }
}
