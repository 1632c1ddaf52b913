// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

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
                throw Malformed(message: "\"${\" has no \"}\"; write \"$${\" for the characters themselves")
            }
            let reference = try Self.reference(Substring(String(decoding: bytes[(index + 2)..<close], as: UTF8.self)))
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
            parts.append(reference)
            index = close + 1
            start = index
        }
        literal += String(decoding: bytes[start...], as: UTF8.self)
        if !literal.isEmpty || parts.isEmpty { parts.append(.text(literal)) }
    }

    private static func reference(_ text: Substring) throws(Malformed) -> Part {
        let bytes = text.utf8
        let name = text[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex)]
        let rest = bytes[name.endIndex...]
        guard name.isCIdentifier, rest.isEmpty || rest.starts(with: ":-".utf8) else {
            throw Malformed(message: "\"${\(text.excerpt)}\" names no variable; write ${NAME} or ${NAME:-default}")
        }
        return .variable(name: String(name), fallback: rest.isEmpty ? nil : String(Substring(rest.dropFirst(2))))
    }

    /// Whether the text is a single variable, whose value may then be a number or a Boolean.
    var isOneVariable: Bool {
        if parts.count == 1, case .variable = parts[0] { true } else { false }
    }

    /// The text with its variables filled in.
    ///
    /// As in a shell, the default replaces an unset variable and an empty one.
    ///
    /// - Parameters:
    ///   - environment: The values.
    ///   - limit: The most bytes of the text.
    /// - Returns: The text, nil if it is too long, and the variables that have neither a value nor a default.
    func filled(
        from environment: Configuration.Environment,
        limit: Int = Configuration.sizeLimit
    ) -> (text: String?, missing: [String]) {
        var text = ""
        var missing: [String] = []
        var known: Set<String> = []
        for part in parts {
            guard text.utf8.count <= limit else { return (nil, missing) }
            switch part {
            case .text(let literal): text += literal
            case .variable(let name, let fallback):
                let value = environment[name]
                if let fallback, value?.isEmpty ?? true {
                    text += fallback
                } else if let value {
                    text += value
                } else if known.insert(name).inserted {
                    missing.append(name)
                }
            }
        }
        return (text.utf8.count <= limit ? text : nil, missing)
    }
}
