// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A key of the pad.
public enum Key: Sendable, Hashable {
    /// A digit, a point, a parenthesis or an operator, as it is written.
    case character(Character)
    /// Evaluates what was entered.
    case equals
    /// Clears what was entered.
    case clear
    /// Removes what was entered last.
    case back

    /// The pad, row by row.
    public static let pad: [[Key]] = [
        [.clear, .character("("), .character(")"), .back],
        [.character("7"), .character("8"), .character("9"), .character("/")],
        [.character("4"), .character("5"), .character("6"), .character("*")],
        [.character("1"), .character("2"), .character("3"), .character("-")],
        [.character("0"), .character("."), .equals, .character("+")],
    ]

    /// What the key shows.
    public var title: String {
        switch self {
        case .character(let character): String(character)
        case .equals: "="
        case .clear: "C"
        case .back: "⌫"
        }
    }

    /// Whether the key continues with a result instead of starting over.
    var isOperator: Bool {
        if case .character(let character) = self { "+-*/".contains(character) } else { false }
    }
}
