// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

/// A user's credentials, as nsc writes them to a file.
struct NATSCredentials {
    /// The token that names the user (RFC 7519).
    var jwt: String
    /// The seed of the key that signs for the user; a secret.
    var seed: String

    /// Finds both in the text of a file: each is the line between two lines of dashes. The ends of lines may be those of any system.
    init?(parsing text: String) {
        let lines = text.split(whereSeparator: \.isNewline)
            .map { line -> String in line.filter { !$0.isWhitespace && $0 != "\u{FEFF}" } }
            .filter { !$0.isEmpty }
        func isHeading(_ index: Int) -> Bool { lines[index].hasPrefix("---") && lines[index].hasSuffix("---") }
        var found: [String] = []
        var index = 0
        while index + 2 < lines.count {
            if isHeading(index), isHeading(index + 2) {
                found.append(lines[index + 1])
                index += 2
            }
            index += 1
        }
        guard found.count >= 2 else { return nil }
        (jwt, seed) = (found[0], found[1])
    }

    /// When the token expires, which servers that refuse it do not say; nil if it does not, or cannot be read.
    var expiry: Timestamp? {
        let parts = jwt.split(separator: ".")
        guard parts.count == 3 else { return nil }
        // The alphabet of URLs, without padding.
        let letters = parts[1].map { letter -> Character in
            switch letter {
            case "-": "+"
            case "_": "/"
            default: letter
            }
        }
        var text = String(letters)
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        guard let claims = Base64.decode(text).flatMap({ try? JSONValue(parsing: $0) }),
            let seconds = claims["exp"]?.integer, seconds > 0
        else { return nil }
        let time = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return time.overflow ? nil : Timestamp(nanoseconds: time.partialValue)
    }
}

extension NATSSettings {
    /// Reads the user's credentials; nil if there is no file of them.
    ///
    /// - Throws: `storage` if the file cannot be read, or has another form.
    func readCredentials() throws(ConnectorError) -> NATSCredentials? {
        guard let credentials else { return nil }
        let bytes = try Self.bytes(of: credentials, limit: 65_536, "\"credentials\"")
        if let user = NATSCredentials(parsing: String(decoding: bytes, as: UTF8.self)) { return user }
        throw ConnectorError(
            .storage,
            "the outbox cannot be used: \(credentials) has no credentials: a user's JWT and the seed of its key",
            fix: "write it with: nsc generate creds",
            isRetryable: true
        )
    }

    /// Checks that the files of certificates can be read: the client library's own errors do not say why they cannot.
    func checkCertificates() throws(ConnectorError) {
        for (name, path) in [("ca", authorities), ("cert", certificate), ("key", key)] {
            guard let path else { continue }
            _ = try Self.bytes(of: path, limit: 1, "\"\(name)\" in \"tls\"")
        }
    }

    /// The first bytes of a file that a member of the configuration names.
    private static func bytes(of path: String, limit: Int, _ member: String) throws(ConnectorError) -> [UInt8] {
        do throws(SystemError) {
            return try SystemFile.bytes(of: path, limit: limit)
        } catch {
            throw ConnectorError(
                .storage,
                "the outbox cannot be used: \(path) cannot be read",
                fix: "check \(member) of \"outbox\" in connectors.json",
                cause: "\(error)",
                isRetryable: true
            )
        }
    }
}
