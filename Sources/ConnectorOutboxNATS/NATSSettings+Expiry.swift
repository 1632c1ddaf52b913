// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// When a user's credentials expire, which servers that refuse them do not say.
extension NATSSettings {
    /// When the JWT in the file of credentials expires; nil if there is none, or it does not expire.
    var expiry: Timestamp? {
        guard let credentials, let bytes = try? SystemFile.bytes(of: credentials, limit: 65_536) else { return nil }
        return Self.expiry(of: String(decoding: bytes, as: UTF8.self))
    }

    /// When the first JWT (RFC 7519) in a text expires.
    static func expiry(of credentials: String) -> Timestamp? {
        for line in credentials.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ".")
            guard parts.count == 3 else { continue }
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
            else { continue }
            let time = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
            return time.overflow ? nil : Timestamp(nanoseconds: time.partialValue)
        }
        return nil
    }
}
