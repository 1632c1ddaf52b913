// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An estimate of how long a backtracking matcher may take for a regular expression.
///
/// A match holds up the simulator's other requests, so expressions that may take long are refused. They are read as Swift's `Regex`
/// reads them, and whatever is uncertain counts as a repetition.
struct ParsePatternEffort {
    /// The most steps that a match may take.
    private static let limit = 10_000_000
    private static let repetitions: Set<Character> = ["*", "+", "?", "{"]

    /// Whether a group that can match in several ways is repeated, so that each character doubles the steps.
    private(set) var isUnbounded = false
    /// The number of repetitions, each of which may try every length.
    private var count = 0
    /// The number of alternatives beyond the first of each choice; each may double the steps.
    private var alternatives = 0

    init(_ pattern: String) {
        var rest = Substring(pattern)
        // Whether each open group has repetitions or alternatives; the first entry is the expression itself.
        var groups = [false]
        while let character = rest.popFirst() {
            switch character {
            case "\\": Self.skipEscape(&rest)
            case "[": Self.skipClass(&rest)
            case "(":
                groups.append(false)
                if rest.first == "?" {
                    rest.removeFirst()
                    // In the extended syntax, blanks and comments may come between a group and its repetition mark.
                    if rest.prefix(while: { $0.isLetter || $0 == "^" }).contains("x") { isUnbounded = true }
                }
            case ")":
                let isAmbiguous = groups.count > 1 ? groups.removeLast() : groups[0]
                if isAmbiguous {
                    groups[groups.count - 1] = true
                    if let next = rest.first, next != "?", Self.repetitions.contains(next) { isUnbounded = true }
                }
            case "|":
                groups[groups.count - 1] = true
                alternatives += 1
            case let mark where Self.repetitions.contains(mark):
                groups[groups.count - 1] = true
                count += 1
                // The mark makes the repetition lazy or possessive.
                if mark != "{", let next = rest.first, next == "?" || next == "+" { rest.removeFirst() }
            default: break
            }
        }
    }

    /// Whether matching a text of `length` bytes stays within the limit.
    func allows(_ length: Int) -> Bool {
        guard alternatives < 20 else { return false }
        var steps = 1 << alternatives
        for _ in 0...count {
            let (product, overflows) = steps.multipliedReportingOverflow(by: max(length, 1))
            guard !overflows, product <= Self.limit else { return false }
            steps = product
        }
        return true
    }

    /// Reads what follows a backslash, such as `d` or `p{Letter}`.
    private static func skipEscape(_ rest: inout Substring) {
        guard let name = rest.popFirst(), "pPxuNkog".contains(name), rest.first == "{" else { return }
        while let next = rest.popFirst(), next != "}" {}
    }

    /// Reads a class of characters up to its closing bracket; classes nest.
    private static func skipClass(_ rest: inout Substring) {
        var depth = 1
        while depth > 0, let character = rest.popFirst() {
            switch character {
            case "\\": skipEscape(&rest)
            case "[": depth += 1
            case "]": depth -= 1
            default: break
            }
        }
    }
}
