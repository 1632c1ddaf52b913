// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorOutbox

/// Reads where the outbox keeps its events: the member `outbox` of the root.
extension ConfigurationReader {
    private static let serverKeys = ["url", "stream", "replicas", "credentials", "token", "tls"]

    /// The NATS servers of the outbox; nil if the events are in a directory.
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
                        ? "memory is for tests alone: set ConnectorHost.Options.outbox = .memory in theirs"
                        : suggestion(for: engine, among: ["sqlite", "nats"]),
                    at: here.appending("engine")
                )
            } else if let key = Self.serverKeys.first(where: { members[$0] != nil }) {
                json.report(.invalidValue, "only the engine \"nats\" takes \"\(key)\"", at: here.appending(key), .name)
            }
            return nil
        }
        guard let url = text("url", in: members, at: here, required: true) else { return nil }
        var settings = NATSSettings(url: url)
        if let stream = text("stream", in: members, at: here) {
            let isName = stream.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    return true
                default: return false
                }
            }
            if !isName || !(1...64).contains(stream.utf8.count) {
                let rule = "1 to 64 letters, digits, \"-\" and \"_\""
                json.report(.invalidValue, "the stream's name must be \(rule)", at: here.appending("stream"))
            }
            settings.stream = stream
        }
        if let replicas = json.integer("replicas", in: members, at: here, within: 1...5) {
            if replicas % 2 == 0 {
                json.report(.invalidValue, "replicas must be 1, 3 or 5", at: here.appending("replicas"))
            }
            settings.replicas = Int(replicas)
        }
        settings.credentials = text("credentials", in: members, at: here).map { base.resolve($0) }
        let isEncrypted = members["tls"] != nil
        if let value = members["tls"],
            let tls = json.members(of: value, at: here.appending("tls"), allowed: ["ca"])
        {
            settings.authorities = text("ca", in: tls, at: here.appending("tls")).map { base.resolve($0) }
        }
        settings.isEncrypted = isEncrypted
        return NATSReference(
            settings: settings,
            token: token(in: members, at: here),
            base: base,
            environment: variables.environment
        )
    }

    /// A text with its variables filled in.
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

    /// Where the token is; its value never stands in the file.
    private mutating func token(in members: JSONObject, at path: JSONPath) -> SecretReference? {
        guard let value = members["token"] else { return nil }
        let here = path.appending("token")
        guard let secret = json.members(of: value, at: here, allowed: ["secret"]),
            let text = text("secret", in: secret, at: here, required: true)
        else { return nil }
        guard let reference = SecretReference(text) else {
            // The text may be the secret itself.
            json.report(
                .invalidValue,
                "a secret must be \"env:NAME\" or \"file:PATH\"",
                at: here.appending("secret")
            )
            return nil
        }
        return reference
    }
}
