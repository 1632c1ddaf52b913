// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text that contains `${NAME}` and `${NAME:-default}`; `$${` stands for `${` itself.
struct Template: Sendable, Hashable {
    /// A part of the text.
    enum Part: Sendable, Hashable {
        case text(String)
        case variable(name: String, fallback: String?)
    }

    /// The parts in order.
    private(set) var parts: [Part] = []

    /// The fault of a malformed text.
    struct Malformed: Error {
        var message: String
    }

    /// Splits a text into parts.
    init(parsing text: String) throws(Malformed) {
        // Byte by byte: in UTF-8, `$`, `{` and `}` are part of no other character.
        var rest = text.utf8[...]
        var literal = ""
        while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
            let after = rest.index(after: dollar)
            guard after < rest.endIndex, rest[after] != UInt8(ascii: "$") else {
                // `$${` is an escape; any other `$` stands for itself.
                let isEscape = rest[after...].starts(with: "${".utf8)
                let end = isEscape ? rest.index(after, offsetBy: 2) : after
                literal += rest[..<(isEscape ? dollar : after)].text + (isEscape ? "${" : "")
                rest = rest[end...]
                continue
            }
            guard rest[after] == UInt8(ascii: "{") else {
                literal += rest[..<after].text
                rest = rest[after...]
                continue
            }
            literal += rest[..<dollar].text
            rest = rest[rest.index(after: after)...]
            guard let close = rest.firstIndex(of: UInt8(ascii: "}")) else {
                throw Malformed(message: "\"${\" has no \"}\"; write \"$${\" for the characters themselves")
            }
            let reference = try Self.reference(Substring(rest[..<close]))
            rest = rest[rest.index(after: close)...]
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
            parts.append(reference)
        }
        literal += rest.text
        if !literal.isEmpty || parts.isEmpty { parts.append(.text(literal)) }
    }

    private static func reference(_ text: Substring) throws(Malformed) -> Part {
        let separator = text.firstRange(of: ":-")
        let name = text[..<(separator?.lowerBound ?? text.endIndex)]
        guard isVariableName(name) else {
            throw Malformed(message: "\"${\(text)}\" names no variable; write ${NAME} or ${NAME:-default}")
        }
        return .variable(name: String(name), fallback: separator.map { String(text[$0.upperBound...]) })
    }

    /// Whether a text is a letter or `_`, followed by letters, digits and `_`.
    static func isVariableName(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: "_")
        }
    }

    /// Whether the text is a single variable, whose value may then be a number or a Boolean.
    var isOneVariable: Bool {
        if parts.count == 1, case .variable = parts[0] { true } else { false }
    }

    /// The text with its variables filled in.
    ///
    /// As in a shell, the default replaces an unset variable and an empty one.
    ///
    /// - Returns: The text, and the variables that have neither a value nor a default.
    func filled(from environment: Configuration.Environment) -> (text: String, missing: [String]) {
        var text = ""
        var missing: [String] = []
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .variable(let name, let fallback):
                let value = environment[name]
                if let fallback, value?.isEmpty ?? true {
                    text += fallback
                } else if let value {
                    text += value
                } else if !missing.contains(name) {
                    missing.append(name)
                }
            }
        }
        return (text, missing)
    }
}

extension Substring.UTF8View {
    /// The characters; the view must begin and end at character boundaries.
    fileprivate var text: Substring { Substring(self) }
}
