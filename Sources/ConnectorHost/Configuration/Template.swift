// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text with `${NAME}` and `${NAME:-default}` in it; `$${` stands for `${` itself.
struct Template: Sendable, Hashable {
    /// A piece of the text.
    enum Part: Sendable, Hashable {
        case text(String)
        case variable(name: String, fallback: String?)
    }

    /// The pieces in their order.
    private(set) var parts: [Part] = []

    /// What is wrong with the text.
    struct Malformed: Error {
        var message: String
    }

    /// Takes a text apart.
    init(parsing text: String) throws(Malformed) {
        // Byte by byte: `$`, `{` and `}` are no part of any other character in UTF-8.
        var rest = text.utf8[...]
        var literal = ""
        while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
            let after = rest.index(after: dollar)
            guard after < rest.endIndex, rest[after] != UInt8(ascii: "$") else {
                // `$${` is an escape, any other `$` means itself.
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

    /// Whether nothing but one variable stands there, so that its value may be a number or a truth value.
    var isOneVariable: Bool {
        if parts.count == 1, case .variable = parts[0] { true } else { false }
    }

    /// The text with the values in it.
    ///
    /// As in a shell, the default counts for an unset variable and for an empty one.
    ///
    /// - Returns: The text, and the variables that are neither set nor have a default.
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
    /// The characters; the view must not begin or end within one.
    fileprivate var text: Substring { Substring(self) }
}
