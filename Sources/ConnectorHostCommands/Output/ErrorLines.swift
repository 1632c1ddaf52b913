// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The human-readable lines of an error: its position, message, cause and remedy.
struct ErrorLines {
    /// The error to show.
    var error: ConnectorError
    /// The context of the error, which selects the usual remedy.
    var occasion = Remedy.Occasion.opening
    /// Whether the error is that of a plugin that reaches no server.
    var isLocal = false

    /// The lines of an error that stands alone, in the format of compilers.
    func lines(_ style: TextStyle) -> [String] {
        var line = ""
        if let position = error.position { line += style.paint(style.shown(position.description) + ": ", .strong) }
        line += style.paint("error: ", .bad)
        if let connector = error.connector { line += style.shown(connector) + ": " }
        line += headline(style)
        return [line] + details(style).map { "    " + $0 }
    }

    /// The message, with its code.
    func headline(_ style: TextStyle) -> String {
        style.shown(error.message) + style.paint(" [\(style.shown(error.code.rawValue))]", .faint)
    }

    /// The position and the headline of an error that is printed below its connector or plugin.
    ///
    /// - Parameter file: The file, positions in which are omitted.
    func locatedHeadline(_ style: TextStyle, besides file: String = "") -> String {
        guard let position = error.position, position.file != file else { return headline(style) }
        return style.shown(position.description) + ": " + headline(style)
    }

    /// The cause and the remedy, where known.
    func details(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        if let cause = error.cause, cause != error.message {
            lines.append(style.paint("cause: \(style.shown(cause))", .faint))
        }
        if let after = error.retryAfter { lines.append("retry after \(style.shown(after.brief))") }
        if let fix = error.fix ?? Remedy.usual(for: error, of: occasion, isLocal: isLocal) {
            lines.append("\(style.arrow) \(style.shown(fix))")
        }
        return lines
    }
}
