// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Texts without secrets, as recordings keep them.
struct RecordedTexts {
    let redactor: Redactor

    /// The text in place of a secret in a response: plain ASCII, because a plugin may send it back in a header.
    private static let placeholder = "redacted"

    /// A part of a request, in which each `*` stands for anything.
    ///
    /// - Parameter template: The plugin's own text, before its secrets are inserted.
    func pattern(_ template: String) -> String {
        Self.pattern(redactor.redact(SecretTemplate(Array(template.utf8)).masked))
    }

    private static func pattern(_ clean: String) -> String {
        clean.replacing(Secret.mask, with: "*")
    }

    /// The texts of JSON as patterns; nil if a secret spans several of them, or if one, or a piece of it, is in the name of a member,
    /// for which no pattern stands.
    ///
    /// - Parameter value: Parsed from a template whose secrets are masked.
    func pattern(_ value: JSONValue) -> JSONValue? {
        guard hasCleanNames(value) else { return nil }
        let clean = redactor.redact(value)
        guard clean.string == nil || value.string != nil else { return nil }
        return clean.mappingTexts { Self.pattern($0) }
    }

    private func hasCleanNames(_ value: JSONValue) -> Bool {
        (value.array ?? []).allSatisfy { hasCleanNames($0) }
            && (value.object?.members ?? []).allSatisfy { isClean(name: $0.name) && hasCleanNames($0.value) }
    }

    /// Whether a name has no secret, and no mask of one.
    func isClean(name: String) -> Bool { Self.pattern(redactor.redact(name)) == name }

    /// A text of a response.
    func response(_ text: String) -> String {
        let clean = redactor.redact(text)
        // A vendor may send the mask itself.
        return clean == text ? text : clean.replacing(Secret.mask, with: Self.placeholder)
    }

    /// Counts the tokens that the headers of a response issue as secrets from now on.
    func addTokens(of headers: HTTPFields) {
        var tokens = IssuedTokens()
        tokens.find(in: headers)
        redactor.add(tokens.secrets)
    }

    /// JSON of a response. The tokens that it issues count as secrets from now on.
    func response(_ value: JSONValue) -> JSONValue {
        var tokens = IssuedTokens()
        let rest = tokens.remove(from: value, for: Self.placeholder)
        redactor.add(tokens.secrets)
        return redacted(rest)
    }

    /// An argument of a call. A token in it counts as a secret from now on, but a short one stays: the caller has it from elsewhere, and
    /// the requests of the call have it, too.
    func argument(_ value: JSONValue) -> JSONValue {
        var tokens = IssuedTokens()
        _ = tokens.remove(from: value, for: Self.placeholder)
        redactor.add(tokens.secrets)
        return redacted(value)
    }

    private func redacted(_ value: JSONValue) -> JSONValue {
        let clean = redactor.redact(value)
        return clean == value ? value : clean.mappingTexts { $0.replacing(Secret.mask, with: Self.placeholder) }
    }

    /// Whether the body of a response, or its beginning, may issue a token, and is no JSON that tells where the token ends. What looks like
    /// one counts as a secret from now on.
    func mayIssueToken(in reply: HTTPResponse) -> Bool {
        guard Self.json(reply.body) == nil else { return false }
        var tokens = IssuedTokens()
        tokens.find(in: reply.body, of: reply.headers["Content-Type"]?.mediaType ?? "")
        redactor.add(tokens.secrets)
        return !tokens.isEmpty
    }

    /// The JSON of a response; nil for any other body.
    static func json(_ body: [UInt8]) -> JSONValue? {
        try? JSONValue(parsing: body, depthLimit: JSONParser.vendorDepthLimit)
    }

    /// Whether a body has neither a secret nor a token.
    func isClean(_ body: [UInt8]) -> Bool {
        guard !hidesSecret(in: body), isClean(String(decoding: body, as: UTF8.self)) else { return false }
        return Self.json(body).map { response($0) == $0 } ?? true
    }

    /// Whether a body has a secret that cannot be removed, with zeros between its characters, as UTF-16 and UTF-32 have them.
    func hidesSecret(in body: [UInt8]) -> Bool {
        body.contains(0) && !isClean(String(decoding: body.filter { $0 != 0 }, as: UTF8.self))
    }

    /// Whether a finished part of a recording has no secret, not even one that spans several texts.
    func isClean(_ text: String) -> Bool { redactor.redact(text) == text }
}

extension JSONValue {
    /// The value with every string and every name mapped.
    ///
    /// - Note: JSON that was parsed has a bounded depth.
    fileprivate func mappingTexts(_ map: (String) -> String) -> JSONValue {
        switch self {
        case .null, .bool, .integer, .number: self
        case .string(let text): .string(map(text))
        case .array(let elements): .array(elements.map { $0.mappingTexts(map) })
        case .object(let object): .object(object.mapping(names: map, values: { $0.mappingTexts(map) }))
        }
    }
}
