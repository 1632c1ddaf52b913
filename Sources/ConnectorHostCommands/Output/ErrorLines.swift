// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An error for people: the place, the failure, and the remedy.
struct ErrorLines {
    /// The error to show.
    var error: ConnectorError
    /// The occasion of the error, which decides the usual remedy.
    var occasion = Remedy.Occasion.opening

    /// The lines of a separate listing, as compilers print errors.
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

    /// The headline after the place in a file, for an error below the connector or the plugin that has it.
    ///
    /// - Parameter file: The file that the reader knows already, whose places are left out.
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
        if let after = error.retryAfter { lines.append("the server asks to wait \(style.shown(after.brief))") }
        if let fix = error.fix ?? Remedy.usual(for: error.code, of: occasion) {
            lines.append("\(style.arrow) \(style.shown(fix))")
        }
        return lines
    }
}
