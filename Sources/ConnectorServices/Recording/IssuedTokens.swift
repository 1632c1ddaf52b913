// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The tokens and passwords that a vendor hands out, found by the names before them, such as `access_token`.
struct IssuedTokens {
    /// Those that are long enough to be looked for elsewhere: shorter ones would hide ordinary words.
    private(set) var secrets: [Secret] = []
    /// Whether nothing is handed out.
    private(set) var isEmpty = true

    /// The names under which vendors hand out credentials, in lower case, without separators.
    private static let names: Set<String> = [
        "accesskey", "accesstoken", "apikey", "authorization", "authtoken", "bearertoken", "clientsecret", "idtoken",
        "jwt", "passphrase", "password", "privatekey", "refreshtoken", "secret", "secretaccesskey", "secretkey",
        "securitytoken", "sessionkey", "sessiontoken", "subjecttoken", "token",
    ]
    /// The longest name in a text, with its separators.
    private static let longestName = 24
    /// The bytes that a secret may have that is looked for elsewhere. What is longer is no token, but a text that was misread.
    private static let secretSizes = 8...16 << 10

    private static func isName(_ name: String) -> Bool {
        names.contains(name.lowercased().filter { $0 != "_" && $0 != "-" })
    }

    // MARK: Headers

    /// Finds the tokens of headers such as `X-Auth-Token`, without the scheme that `Authorization` has.
    mutating func find(in headers: HTTPFields) {
        for field in headers {
            let name = field.name.lowercased()
            guard Self.isName(name.hasPrefix("x-") ? String(name.dropFirst(2)) : name) else { continue }
            if let token = field.value.split(ascii: " ").last { add(String(token)) }
        }
    }

    // MARK: JSON

    /// Takes the tokens out of JSON.
    ///
    /// - Returns: The value with the placeholder for each token, and for each text that hands out some, as one does that is JSON itself.
    mutating func remove(from value: JSONValue, for placeholder: String, isToken: Bool = false) -> JSONValue {
        switch value {
        case .null, .bool: return value
        case .integer, .number:
            guard isToken else { return value }
            add(value.serialized())
            return .string(placeholder)
        case .string(let text):
            if isToken {
                guard !text.isEmpty else { return value }
                add(text)
            } else if !scan(Array(text.utf8), .prose) {
                return value
            }
            return .string(placeholder)
        case .array(let elements):
            return .array(elements.map { remove(from: $0, for: placeholder, isToken: isToken) })
        case .object(let object):
            let members = object.members.map { member -> JSONObject.Member in
                let isOne = isToken || Self.isName(member.name)
                return JSONObject.Member(
                    name: member.name,
                    value: remove(from: member.value, for: placeholder, isToken: isOne)
                )
            }
            return .object(JSONObject(unique: members))
        }
    }

    private mutating func add(_ text: String) {
        isEmpty = false
        if Self.secretSizes.contains(text.utf8.count) { secrets.append(Secret(text)) }
    }

    // MARK: Other texts

    /// Finds the tokens of a body that is not JSON, or not to the letter, in what a lenient parser may read in it: values one after the
    /// other, a prefix, names twice, names without quotation marks, forms, XML, YAML; in UTF-8, UTF-16 and UTF-32. In a table or a
    /// `multipart`, any name counts.
    ///
    /// - Parameter type: The body's media type; empty if it has none.
    mutating func find(in body: [UInt8], of type: String) {
        // In UTF-16 and UTF-32, zeros stand between the characters of names.
        _ = scan(body.filter { $0 != 0 }, TokenSyntax(of: type))
    }

    /// Adds the values of a text that stand after a name, as they are and with their escapes decoded.
    ///
    /// - Returns: Whether there are any, or may be.
    private mutating func scan(_ text: [UInt8], _ syntax: TokenSyntax) -> Bool {
        var found = scanPlain(text, syntax)
        let unescaped = UnescapedText(text)
        if unescaped.isChanged, scanPlain(unescaped.bytes, syntax) { found = true }
        return found
    }

    private mutating func scanPlain(_ text: [UInt8], _ syntax: TokenSyntax) -> Bool {
        var (index, found) = (0, false)
        while index < text.count {
            guard text[index].isName else {
                index += 1
                continue
            }
            let start = index
            while index < text.count, text[index].isName { index += 1 }
            guard index - start <= Self.longestName, Self.isName(String(decoding: text[start..<index], as: UTF8.self))
            else {
                continue
            }
            if syntax == .apart { (found, isEmpty) = (true, false) }
            var value = TokenValue(text, after: index)
            guard value.skipAssignment(syntax) else { continue }
            let token = value.read()
            index = value.index
            guard !["", "null", "true", "false"].contains(token) else { continue }
            found = true
            add(token)
        }
        return found
    }
}

/// How a text gives names values.
private enum TokenSyntax {
    /// In a text for people, or a URL: only a name in quotation marks is one.
    case prose
    /// In code, markup or a form: after a sign.
    case code
    /// After a colon, without quotation marks.
    case yaml
    /// Somewhere below or behind the name: in a table, or in a part of a `multipart`.
    case apart

    /// The syntax of a body.
    init(of mediaType: String) {
        if mediaType.hasPrefix("multipart/") || ["text/csv", "text/tab-separated-values"].contains(mediaType) {
            self = .apart
        } else {
            self = mediaType.hasSuffix("yaml") ? .yaml : .code
        }
    }
}

/// Reads the value that a text gives a name.
private struct TokenValue {
    private let text: [UInt8]
    /// Where the rest of the text begins.
    private(set) var index: Int

    /// Begins after the name.
    init(_ text: [UInt8], after index: Int) {
        (self.text, self.index) = (text, index)
    }

    private var next: UInt8? { index < text.count ? text[index] : nil }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let next, condition(next) { index += 1 }
    }

    private mutating func take(_ condition: (UInt8) -> Bool) -> Bool {
        guard let next, condition(next) else { return false }
        index += 1
        return true
    }

    /// Skips what stands between a name and its value; false if none follows.
    mutating func skipAssignment(_ syntax: TokenSyntax) -> Bool {
        let isText = syntax == .prose
        // The quotation marks of JSON within JSON are escaped.
        skip { $0 == UInt8(ascii: "\\") }
        let isQuoted = take(\.isQuotationMark)
        if !isQuoted, !isText, take({ $0 == UInt8(ascii: ">") }) { return true }
        skip(while: \.isWhitespace)
        if take({ $0 == UInt8(ascii: ":") }) {
            skip(while: \.isWhitespace)
            // In prose, a colon follows a word.
            return isQuoted || syntax == .yaml || !isText && next?.isQuotationMark == true
        }
        guard !isQuoted, !isText, take({ $0 == UInt8(ascii: "=") }) else { return false }
        skip(while: \.isWhitespace)
        return true
    }

    /// The value, without quotation marks; of a list the first one, and of an object the brace.
    mutating func read() -> String {
        skip { $0 == UInt8(ascii: "\\") }
        let start: Int
        if let mark = next, mark.isQuotationMark {
            index += 1
            start = index
            skip { $0 != mark }
        } else {
            skip { $0 == UInt8(ascii: "[") || $0.isWhitespace || $0.isQuotationMark }
            start = index
            if !take({ $0 == UInt8(ascii: "{") }) { skip { !$0.endsValue } }
        }
        var value = text[start..<index]
        while value.last == UInt8(ascii: "\\") { value.removeLast() }
        return String(decoding: value, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte may be in the name of a token.
    fileprivate var isName: Bool { isWordCharacter || self == UInt8(ascii: "-") }

    fileprivate var isQuotationMark: Bool { "\"'`".utf8.contains(self) }

    /// Whether the byte cannot be in a value without quotation marks.
    fileprivate var endsValue: Bool { isWhitespace || isQuotationMark || ",;&<>()[]{}".utf8.contains(self) }
}
