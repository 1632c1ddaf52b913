// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The destination of reports and the key: `https://KEY[:SECRET]@HOST[:PORT]/PATH/PROJECT`. The key is public.
struct SentryDSN: Hashable {
    /// The text that clients repeat in envelopes.
    var text: String
    /// The public key of the project.
    var publicKey: String
    /// The last segment of the path.
    var project: String
    /// Everything before the project, without the key.
    var base: String

    /// Parses a DSN; nil if a part is missing.
    init?(_ text: String) {
        guard let parts = URLParts(text), let user = parts.user else { return nil }
        publicKey = String(user.prefix { $0 != ":" })
        var path = parts.rest.prefix { $0 != "?" && $0 != "#" }
        while path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return nil }
        project = String(path[path.index(after: slash)...])
        let isPlain = publicKey.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") }
        guard !publicKey.isEmpty, isPlain, !project.isEmpty else { return nil }
        var server = parts
        server.user = nil
        server.rest = String(path[..<slash])
        base = server.description
        self.text = text
    }

    /// The DSN with a key that no project has.
    var withWrongKey: SentryDSN {
        var dsn = self
        dsn.publicKey = String(repeating: "0", count: 32)
        if var parts = URLParts(text) {
            parts.user = dsn.publicKey
            dsn.text = parts.description
        }
        return dsn
    }

    /// The URL for envelopes.
    var envelopeURL: HTTPURL? {
        HTTPURL(base)?.appending(path: "/api").appending(project).appending(path: "/envelope/")
    }
}
