// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What an error code means, what usually causes it, and what to do.
struct ErrorExplanation: Sendable {
    /// The code, as in reports and `--json` output.
    let code: ConnectorError.Code
    /// What happened, in one sentence.
    let meaning: String
    /// The usual causes, most likely first.
    let causes: [String]
    /// What to do about it.
    let fixes: [String]
    /// The kind of failure that the code belongs to.
    private(set) var group = ""

    init(_ code: String, _ meaning: String, causes: [String], fixes: [String]) {
        self.code = ConnectorError.Code(rawValue: code)
        self.meaning = meaning
        self.causes = causes
        self.fixes = fixes
    }

    static func group(_ name: String, _ members: ErrorExplanation...) -> [ErrorExplanation] {
        members.map { member in
            var member = member
            member.group = name
            return member
        }
    }

    /// The explanation of a code.
    ///
    /// - Throws: `not-found` for an unknown code, with the nearest one as the fix.
    static func of(_ code: String) throws(ConnectorError) -> ErrorExplanation {
        guard let explanation = all.first(where: { $0.code.rawValue == code }) else {
            throw ConnectorError(
                .notFound,
                "there is no error code \(code.excerpt)",
                fix: suggestion(for: code, among: all.map(\.code.rawValue)) ?? "connector-host explain lists all codes"
            )
        }
        return explanation
    }

    /// The page of all codes, in Markdown.
    static var page: String {
        var lines = [
            "# Error codes", "",
            "Every error has one of these codes: in square brackets after its message, as `code` in `--json` documents and reports, and as "
                + "`ConnectorError.Code` in Swift. Codes are never renamed. `connector-host explain CODE` prints the same.",
        ]
        var group = ""
        for explanation in all {
            if explanation.group != group {
                group = explanation.group
                lines += ["", "## \(group)"]
            }
            lines += ["", "### `\(explanation.code)`", "", explanation.meaning, ""]
            lines += explanation.causes.map { "- Cause: \($0)" } + explanation.fixes.map { "- Fix: \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}
