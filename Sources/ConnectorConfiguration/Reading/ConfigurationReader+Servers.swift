// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Reads where the outbox stores its events: the root's member `outbox`.
extension ConfigurationReader {
    private static let serverKeys = ["url", "stream", "replicas", "credentials", "token", "user", "password", "tls"]

    /// Reads the NATS servers of the outbox; nil if a directory stores the events.
    mutating func servers(in object: JSONObject) -> NATSReference? {
        let here = JSONPath().appending("outbox")
        guard let value = object["outbox"],
            let members = json.members(of: value, at: here, allowed: ["engine"] + Self.serverKeys)
        else { return nil }
        let engine = json.string("engine", in: members, at: here, required: true)
        guard engine == "nats" else {
            if let engine, engine != "sqlite" {
                json.report(
                    .invalidValue,
                    "engine is \"\(engine.excerpt)\"; it must be \"sqlite\" or \"nats\"",
                    fix: engine == "memory"
                        ? "memory is for tests only: set ConnectorHost.Options.outbox = .memory there"
                        : suggestion(for: engine, among: ["sqlite", "nats"]),
                    at: here.appending("engine")
                )
            } else if let key = Self.serverKeys.first(where: { members[$0] != nil }) {
                json.report(.invalidValue, "only the engine \"nats\" has \"\(key)\"", at: here.appending(key), .name)
            }
            return nil
        }
        guard let url = text("url", in: members, at: here, required: true) else { return nil }
        if url.contains(ascii: "@") {
            // Show none of it: it may contain a secret.
            json.report(
                .invalidValue,
                "url contains a user, a password or a token, which must not be in this file",
                fix:
                    "write only nats://HOST:PORT, and add \"token\": {\"secret\": \"env:NATS_TOKEN\"}, or \"user\" and \"password\": {\"secret\": …}, or \"credentials\"",
                at: here.appending("url")
            )
            return nil
        }
        check(servers: url, at: here.appending("url"))
        var options = NATSSettings(url: url)
        options.application = object["name"]?.string
        if let stream = text("stream", in: members, at: here) {
            let isName = stream.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") }
            if !isName || !(1...64).contains(stream.utf8.count) {
                let rule = "1 to 64 letters, digits, \"-\" and \"_\""
                json.report(.invalidValue, "the stream's name must be \(rule)", at: here.appending("stream"))
            }
            options.stream = stream
        }
        if let replicas = json.integer("replicas", in: members, at: here, within: 1...5) {
            if replicas % 2 == 0 {
                json.report(.invalidValue, "replicas must be 1, 3 or 5", at: here.appending("replicas"))
            }
            options.replicas = Int(replicas)
        }
        options.credentials = text("credentials", in: members, at: here).map { base.resolve($0) }
        options.user = text("user", in: members, at: here)
        let password = secret("password", in: members, at: here)
        checkPair("user", "password", in: members, at: here)
        let place = here.appending("tls")
        if let value = members["tls"],
            let tls = json.members(of: value, at: place, allowed: ["ca", "cert", "key"])
        {
            options.authorities = text("ca", in: tls, at: place).map { base.resolve($0) }
            options.certificate = text("cert", in: tls, at: place).map { base.resolve($0) }
            options.key = text("key", in: tls, at: place).map { base.resolve($0) }
            checkPair("cert", "key", in: tls, at: place)
        }
        options.isEncrypted = members["tls"] != nil
        return NATSReference(
            options: options,
            token: secret("token", in: members, at: here),
            password: password,
            environment: variables.environment
        )
    }

    /// Reports one of two members without the other.
    private mutating func checkPair(_ one: String, _ other: String, in members: JSONObject, at path: JSONPath) {
        guard (members[one] == nil) != (members[other] == nil) else { return }
        let (given, absent) = members[one] == nil ? (other, one) : (one, other)
        json.report(.missingValue, "\(given) requires \(absent)", at: path.appending(given), .name)
    }

    /// Checks a list of servers: the client library ignores what it does not know in one, such as another scheme, and connects without
    /// encryption.
    private mutating func check(servers: String, at path: JSONPath) {
        let names = servers.split(separator: ",").map { $0.split(whereSeparator: \.isWhitespace) }
            .filter { !$0.isEmpty }
        if names.isEmpty { json.report(.invalidValue, "url names no server", fix: Self.serverRule, at: path) }
        for words in names where words.count > 1 || !Self.isServer(String(words[0])) {
            let problem = "url contains \"\(words.joined(separator: " ").excerpt)\", which is no NATS server"
            json.report(.invalidValue, problem, fix: Self.serverRule, at: path)
        }
    }

    private static let serverRule = "write nats://HOST:PORT, or tls://HOST:PORT to encrypt; separate servers by commas"

    /// Whether a text is `nats://HOST:PORT` or `tls://HOST:PORT`; the scheme and the port may be absent.
    private static func isServer(_ text: String) -> Bool {
        let scheme = ["nats://", "tls://"].first { text.lowercased().hasPrefix($0) } ?? ""
        guard !text.hasSuffix(":"), let parts = URLParts("http://\(text.dropFirst(scheme.count))") else { return false }
        return parts.user == nil && (parts.rest.isEmpty || parts.rest == "/")
    }

    /// Reads a non-empty string and expands its variables.
    private mutating func text(
        _ name: String,
        in members: JSONObject,
        at path: JSONPath,
        required: Bool = false
    ) -> String? {
        guard let text = json.string(name, in: members, at: path, required: required),
            let value = filled(text, at: path.appending(name))
        else { return nil }
        guard !value.isEmpty, !value.utf8.contains(0) else {
            json.report(.invalidValue, "\(name) is empty", at: path.appending(name))
            return nil
        }
        return value
    }

    /// Reads a reference to a secret; the file never contains the value itself.
    private mutating func secret(_ name: String, in members: JSONObject, at path: JSONPath) -> SecretReference? {
        guard let value = members[name] else { return nil }
        let here = path.appending(name)
        guard let secret = json.members(of: value, at: here, allowed: ["secret"]),
            let text = text("secret", in: secret, at: here, required: true)
        else { return nil }
        guard let reference = SecretReference(text, base: base) else {
            // The text may be the secret itself.
            json.report(.invalidValue, SecretReference.rule, at: here.appending("secret"))
            return nil
        }
        return reference
    }
}
