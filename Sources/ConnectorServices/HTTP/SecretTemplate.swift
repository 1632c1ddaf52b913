// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorInvocation

/// A template with `{{secret:NAME}}` and functions such as `{{base64:TEXT}}`, as services/http.h defines it.
///
/// Parsed in one pass, in linear time. An unclosed placeholder, or one whose name no field can have, is plain text.
/// Inside a function, secrets are inserted verbatim; inside `{{hmac-sha256:…}}`, so is `{{sha256:…}}`.
package struct SecretTemplate: Sendable {
    /// The encoding of an inserted value.
    package enum Encoding: Sendable {
        /// Unchanged.
        case verbatim
        /// Percent-encoded, except RFC 3986's unreserved characters.
        case percent
        /// Escaped as in a JSON string, without the quotes.
        case json
    }

    /// The expanded text.
    package struct Expansion: Sendable {
        /// The text.
        package var bytes: [UInt8] = []
        /// Whether it contains a secret.
        package var containsSecret = false
    }

    /// A piece of the template.
    private enum Part: Sendable {
        case text(Range<Int>)
        case secret(String, at: Range<Int>)
        case function(SecretFunction, [[Part]], at: Range<Int>)

        /// Whether the part is plain text.
        var isText: Bool {
            if case .text = self { true } else { false }
        }
    }

    private let source: [UInt8]
    private let parts: [Part]

    /// Parses a template; any bytes are valid.
    package init(_ source: [UInt8]) {
        self.source = source
        // Fast path: nearly all texts are too short or have no braces.
        guard source.count >= Self.shortest else {
            parts = [.text(source.indices)]
            return
        }
        var scanner = Scanner(source: source)
        parts = scanner.parts()
    }

    private static let shortest = 11

    /// Expands the template.
    ///
    /// - Parameters:
    ///   - encoding: The encoding of inserted values.
    ///   - limit: The maximum size of the output, in bytes.
    ///   - isStrict: Whether a name without a value throws; otherwise its placeholder stays.
    ///   - secret: Returns the value of a name; nil if it has none.
    package func expanded(
        _ encoding: Encoding,
        limit: Int,
        isStrict: Bool,
        secret: (String) -> String?
    ) throws(ServiceFailure) -> Expansion {
        // Do not copy: most templates have no placeholder, and bodies are long.
        if parts.allSatisfy(\.isText), source.count <= limit { return Expansion(bytes: source) }
        var expansion = Expansion()
        try append(parts, to: &expansion, encoding, limit, isStrict, secret)
        return expansion
    }

    /// The text with the mask in place of each secret and each function, for patterns that match the text whatever its
    /// secrets are.
    package var masked: String {
        var bytes: [UInt8] = []
        for part in parts {
            if case .text(let range) = part { bytes += source[range] } else { bytes += Secret.mask.utf8 }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(
        _ parts: [Part],
        to expansion: inout Expansion,
        _ encoding: Encoding,
        _ limit: Int,
        _ isStrict: Bool,
        _ secret: (String) -> String?
    ) throws(ServiceFailure) {
        for part in parts {
            switch part {
            case .text(let range):
                expansion.bytes += source[range]
            case .secret(let name, let range):
                if let value = secret(name) {
                    expansion.bytes.append(value, encoding)
                    expansion.containsSecret = true
                } else if isStrict {
                    throw .invalid("{{secret:\(name)}} names no secret field that has a value")
                } else {
                    expansion.bytes += source[range]
                }
            case .function(let function, let arguments, let range):
                var texts: [[UInt8]] = []
                for argument in arguments {
                    var plain = Expansion()
                    try append(argument, to: &plain, .verbatim, limit, isStrict, secret)
                    texts.append(plain.bytes)
                    expansion.containsSecret = expansion.containsSecret || plain.containsSecret
                }
                if let value = function.value(of: texts) {
                    expansion.bytes.append(value, encoding)
                } else if isStrict {
                    throw .invalid(
                        "{{\(function.rawValue):…}} must have \(function.arguments) parts with | between them"
                    )
                } else {
                    expansion.bytes += source[range]
                }
            }
            guard expansion.bytes.count <= limit else {
                throw .tooLarge("with its secrets inserted, a part of the request has more than \(limit) bytes")
            }
        }
    }
}

extension SecretTemplate {
    /// Finds the parts of a template.
    private struct Scanner {
        let source: [UInt8]
        private var index = 0
        /// The functions that no `}}` closes in the rest of the text, so that the scanner does not search for one
        /// again.
        private var unclosed: Set<SecretFunction> = []

        private static let secret = Array("{{secret:".utf8)
        /// The maximum length of a name, in bytes.
        private static let nameLimit = 128

        init(source: [UInt8]) {
            self.source = source
        }

        mutating func parts() -> [Part] {
            var parts: [Part] = []
            var start = 0
            while let brace = nextBrace() {
                index = brace
                guard let part = secretPart() ?? functionPart() else {
                    index = brace + 1
                    continue
                }
                if start < brace { parts.append(.text(start..<brace)) }
                parts.append(part)
                start = index
            }
            if start < source.count { parts.append(.text(start..<source.count)) }
            return parts
        }

        private func nextBrace() -> Int? {
            source[index...].firstIndex(of: UInt8(ascii: "{"))
        }

        /// Parses `{{secret:NAME}}` at the index and moves the index past it.
        private mutating func secretPart() -> Part? {
            guard starts(with: Self.secret) else { return nil }
            let start = index + Self.secret.count
            var end = start
            while end < source.count, end - start <= Self.nameLimit, isNameByte(source[end]) { end += 1 }
            guard end > start, end - start <= Self.nameLimit, isClosing(at: end) else { return nil }
            defer { index = end + 2 }
            return .secret(String(decoding: source[start..<end], as: UTF8.self), at: index..<end + 2)
        }

        private mutating func functionPart() -> Part? {
            for function in SecretFunction.allCases {
                if let part = functionPart(function) { return part }
            }
            return nil
        }

        /// Parses `{{NAME:TEXT}}` at the index and moves the index past it.
        private mutating func functionPart(_ function: SecretFunction) -> Part? {
            guard !unclosed.contains(function), starts(with: function.mark) else { return nil }
            let begin = index
            var arguments: [[Part]] = [[]]
            index += function.mark.count
            var start = index
            while index < source.count {
                let here = index
                if isClosing(at: here) {
                    if start < here { arguments[arguments.count - 1].append(.text(start..<here)) }
                    index = here + 2
                    return .function(function, arguments, at: begin..<index)
                }
                if source[here] == UInt8(ascii: "{"),
                    let part = secretPart() ?? (function == .hmac ? functionPart(.sha256) : nil)
                {
                    if start < here { arguments[arguments.count - 1].append(.text(start..<here)) }
                    arguments[arguments.count - 1].append(part)
                    start = index
                } else {
                    index = here + 1
                    guard function == .hmac, source[here] == UInt8(ascii: "|") else { continue }
                    if start < here { arguments[arguments.count - 1].append(.text(start..<here)) }
                    arguments.append([])
                    start = index
                }
            }
            unclosed.insert(function)
            index = begin
            return nil
        }

        private func isClosing(at index: Int) -> Bool {
            index + 1 < source.count && source[index] == UInt8(ascii: "}") && source[index + 1] == UInt8(ascii: "}")
        }

        private func starts(with mark: [UInt8]) -> Bool {
            source.count - index >= mark.count && source[index..<index + mark.count].elementsEqual(mark)
        }

        private func isNameByte(_ byte: UInt8) -> Bool {
            byte > 0x20 && byte != UInt8(ascii: "{") && byte != UInt8(ascii: "}")
        }
    }
}
