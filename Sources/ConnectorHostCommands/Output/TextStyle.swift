// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The style of human-readable text on one stream.
struct TextStyle: Sendable, Equatable {
    /// Whether the stream shows colours.
    var isColoured = false
    /// Whether the stream shows characters beyond ASCII.
    var isUnicode = true

    /// A colour, named by its meaning; the raw value is a parameter of SGR.
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
    /// Colours require a terminal that is not `dumb`, and no NO_COLOR. Characters beyond ASCII require a UTF-8 locale, by the
    /// precedence of setlocale(3).
    static func detected(
        for stream: StandardStream,
        environment: Configuration.Environment = .process
    ) -> TextStyle {
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // Compares bytes: the first substring search in a process takes 0.2 ms.
        let charset = locale.utf8.filter { $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
        let isUnicode = charset.indices.contains { charset[$0...].starts(with: "utf8".utf8) }
        return TextStyle(isColoured: !isPlain && stream.isTerminal, isUnicode: isUnicode)
    }

    /// A text in a colour, or unchanged.
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

    /// The colour of a mark.
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
}
