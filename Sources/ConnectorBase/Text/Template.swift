// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text that contains `${NAME}` and `${NAME:-default}`; `$${` stands for `${` itself.
package struct Template: Sendable, Hashable {
    /// A part of the text.
    package enum Part: Sendable, Hashable {
        case text(String)
        case variable(name: String, fallback: String?)
    }

    /// The parts, in order.
    package private(set) var parts: [Part] = []

    /// The error for a malformed text.
    package struct ParseError: Error {
        /// What is wrong, and what to write instead.
        package var message: String
    }

    /// Splits a text into parts.
    ///
    /// - Parameters:
    ///   - isName: Whether a text may stand before `:-` in a reference; by default, the name of a variable.
    ///   - complaint: What the error says of any other reference.
    package init(
        parsing text: String,
        isName: (Substring) -> Bool = \.isCIdentifier,
        otherwise complaint: String = "is not a variable; write ${NAME} or ${NAME:-default}"
    ) throws(ParseError) {
        // Scanning bytes is safe: in UTF-8, `$`, `{` and `}` are never part of another character.
        let bytes = Array(text.utf8)
        var literal = ""
        var start = 0
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index] == UInt8(ascii: "$"), bytes[index + 1] == UInt8(ascii: "{") else {
                index += 1
                continue
            }
            // `$${` is an escape; any other `$` stands for itself.
            guard index == start || bytes[index - 1] != UInt8(ascii: "$") else {
                literal += String(decoding: bytes[start..<(index - 1)], as: UTF8.self) + "${"
                index += 2
                start = index
                continue
            }
            literal += String(decoding: bytes[start..<index], as: UTF8.self)
            guard let close = bytes[(index + 2)...].firstIndex(of: UInt8(ascii: "}")) else {
                throw ParseError(message: "\"${\" has no \"}\"; write \"$${\" for the characters themselves")
            }
            let inside = Substring(String(decoding: bytes[(index + 2)..<close], as: UTF8.self))
            let reference = try Self.reference(inside, isName, complaint)
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
            parts.append(reference)
            index = close + 1
            start = index
        }
        literal += String(decoding: bytes[start...], as: UTF8.self)
        if !literal.isEmpty || parts.isEmpty { parts.append(.text(literal)) }
    }

    private static func reference(
        _ text: Substring,
        _ isName: (Substring) -> Bool,
        _ complaint: String
    ) throws(ParseError) -> Part {
        let bytes = text.utf8
        let name = text[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex)]
        let rest = bytes[name.endIndex...]
        guard isName(name), rest.isEmpty || rest.starts(with: ":-".utf8) else {
            throw ParseError(message: "\"${\(text.excerpt)}\" \(complaint)")
        }
        guard !rest.contains("${".utf8) else {
            throw ParseError(message: "the default of \(name.excerpt) cannot contain another variable")
        }
        return .variable(name: String(name), fallback: rest.isEmpty ? nil : String(Substring(rest.dropFirst(2))))
    }

    /// Whether the text is a single variable, whose value may be a number or a Boolean.
    package var isOneVariable: Bool {
        if parts.count == 1, case .variable = parts[0] { true } else { false }
    }
}
