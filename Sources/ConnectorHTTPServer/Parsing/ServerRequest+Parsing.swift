// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ServerRequest {
    /// Parses the first line of a request (RFC 9112, section 3).
    init(line: [UInt8]) throws(RequestFault) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, (1...32).contains(parts[0].count), parts[0].allSatisfy(\.isTokenCharacter),
            !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            parts[2].count == 8, parts[2].starts(with: "HTTP/".utf8)
        else { throw RequestFault("the first line is not that of a request") }
        self.init(String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
        switch String(decoding: parts[2], as: UTF8.self) {
        case "HTTP/1.1": break
        case "HTTP/1.0": isOld = true
        default: throw RequestFault("this server speaks HTTP/1.1")
        }
    }

    /// The names, in lower case, of the fields that a request may have only once.
    ///
    /// If a field came twice, one reader might check the first value and another use the last.
    private static let singles: Set<String> = [
        "authorization", "content-length", "content-type", "cookie", "expect", "host", "last-event-id", "origin",
        "purpose",
        "referer", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-purpose",
        "transfer-encoding",
    ]

    /// Checks that the fields are consistent, and returns how the end of the body is marked.
    func framing() throws(RequestFault) -> RequestParser.Framing {
        var singles: [String: String] = [:]
        for field in fields {
            let name = field.name.lowercased()
            guard Self.singles.contains(name) else { continue }
            guard singles.updateValue(field.value, forKey: name) == nil else {
                throw RequestFault("the field \(name) is there twice")
            }
        }
        guard let host = singles["host"] ?? (isOld ? "" : nil), Self.isAuthority(host) else {
            throw RequestFault("the field host is missing, or is not a host")
        }
        if let expected = singles["expect"], !expected.isEqual(asciiIgnoringCase: "100-continue") {
            throw RequestFault(417, "nothing is known of that expectation")
        }
        guard let coding = singles["transfer-encoding"] else {
            guard let text = singles["content-length"] else { return .length(0) }
            // Eighteen digits are below 2^63.
            guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit),
                let length = Int(text)
            else { throw RequestFault("the field content-length is not a length") }
            return .length(length)
        }
        guard singles["content-length"] == nil, !isOld else {
            throw RequestFault("the length of the body is said in two ways")
        }
        guard coding.isEqual(asciiIgnoringCase: "chunked") else {
            throw RequestFault(501, "the transfer coding is not known")
        }
        return .chunked
    }

    /// Reduces a target that is a full URL of this server to its path and query (RFC 9112, section 3.2.2).
    mutating func shortenTarget() throws(RequestFault) {
        guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")),
            ["http", "https"].contains(where: { target[..<colon].isEqual(asciiIgnoringCase: $0) }),
            target[colon...].starts(ascii: "://")
        else { return }
        let rest = target[colon...].utf8.dropFirst(3)
        let end = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
        guard let host = fields["Host"], Substring(rest[..<end]).isEqual(asciiIgnoringCase: host) else {
            throw RequestFault("the target and the field host name two hosts")
        }
        let path = Substring(rest[end...])
        target = path.starts(ascii: "/") ? String(path) : "/\(path)"
    }

    /// Whether a text could be a host with an optional port, as in `Host`; the empty text could.
    private static func isAuthority(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isTokenCharacter || ":[]".utf8.contains($0) }
    }
}
