// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// An error for people: the place, what failed, and what to do.
struct ErrorLines {
    /// What is shown.
    var error: ConnectorError
    /// What failed, which decides what usually helps.
    var occasion = Remedy.Occasion.opening

    /// The lines of a listing of its own, as compilers print errors.
    func lines(_ style: TextStyle) -> [String] {
        var line = ""
        if let position = error.position { line += style.paint(style.shown(position.description) + ": ", .strong) }
        line += style.paint("error: ", .bad)
        if let connector = error.connector { line += style.shown(connector) + ": " }
        line += headline(style)
        return [line] + details(style).map { "    " + $0 }
    }

    /// What failed, with its code.
    func headline(_ style: TextStyle) -> String {
        style.shown(error.message) + style.paint(" [\(style.shown(error.code.rawValue))]", .faint)
    }

    /// The cause and the remedy, as far as there are any.
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
