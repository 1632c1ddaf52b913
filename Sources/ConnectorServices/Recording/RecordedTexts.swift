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

    /// JSON of a response. The tokens that it issues count as secrets from now on.
    func response(_ value: JSONValue) -> JSONValue {
        var issued: [Secret] = []
        Self.collectIssued(in: value, into: &issued)
        redactor.add(issued)
        let clean = redactor.redact(value)
        return clean == value ? value : clean.mappingTexts { $0.replacing(Secret.mask, with: Self.placeholder) }
    }

    /// Whether a finished part of a recording has no secret, not even one that spans several texts.
    func isClean(_ text: String) -> Bool { redactor.redact(text) == text }

    /// The names under which vendors hand out credentials, in lower case, without separators.
    private static let issuedNames: Set<String> = [
        "accesstoken", "apikey", "authtoken", "clientsecret", "idtoken", "password", "privatekey", "refreshtoken",
        "secret", "secretkey", "sessionkey", "sessiontoken", "token",
    ]
    /// The fewest bytes of a credential: shorter ones would hide ordinary words.
    private static let shortestIssued = 8

    private static func isIssued(_ name: String) -> Bool {
        issuedNames.contains(name.lowercased().filter { $0 != "_" && $0 != "-" })
    }

    /// Whether the beginning of a response is one of JSON that names a token: without the end, it is not known which text that is.
    static func mayHide(tokensIn body: [UInt8]) -> Bool {
        let first = body.first { !" \t\r\n".utf8.contains($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            (try? JSONValue(parsing: body, depthLimit: JSONParser.vendorDepthLimit)) == nil
        else { return false }
        // The names of members stand between quotation marks.
        return body.split(separator: UInt8(ascii: "\"")).contains { isIssued(String(decoding: $0, as: UTF8.self)) }
    }

    private static func collectIssued(in value: JSONValue, into secrets: inout [Secret]) {
        for element in value.array ?? [] { collectIssued(in: element, into: &secrets) }
        for member in value.object?.members ?? [] {
            if let text = member.value.string, isIssued(member.name), text.utf8.count >= shortestIssued {
                secrets.append(Secret(text))
            }
            collectIssued(in: member.value, into: &secrets)
        }
    }
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
