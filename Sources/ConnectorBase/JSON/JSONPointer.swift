// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A place in a JSON value in the notation of RFC 6901: `/main/temp` or `/list/0`; empty for the value itself.
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The pointer as written.
    package let description: String
    private let tokens: [String]

    /// Reads a pointer; nil if the text is not one.
    package init?(_ text: String) {
        description = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for token in Substring(text.utf8.dropFirst()).split(ascii: "/", omittingEmptySubsequences: false) {
            let parts = token.split(ascii: "~", omittingEmptySubsequences: false)
            var name = parts.first.map { String($0) } ?? ""
            for part in parts.dropFirst() {
                guard let escape = part.utf8.first, [UInt8(ascii: "0"), UInt8(ascii: "1")].contains(escape) else {
                    return nil
                }
                name += (escape == UInt8(ascii: "0") ? "~" : "/") + part.unicodeScalars.dropFirst().text
            }
            tokens.append(name)
        }
        self.tokens = tokens
    }

    /// The value at the place; nil if there is none.
    package func value(in json: JSONValue) -> JSONValue? {
        var value = json
        for token in tokens {
            // A literal nil would be JSON's null.
            let next = value.array == nil ? value[token] : Self.index(token).flatMap { value[$0] }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    /// Digits without a leading zero.
    private static func index(_ token: String) -> Int? {
        guard token.utf8.allSatisfy(\.isDigit) else { return nil }
        return token.utf8.count > 1 && token.hasPrefix("0") ? nil : Int(token)
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var text: String { String(String.UnicodeScalarView(self)) }
}
