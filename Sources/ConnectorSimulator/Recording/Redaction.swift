// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Removes credentials from recorded requests.
struct Redaction: Sendable {
    /// The text that replaces a credential.
    static let mark = "•••"

    /// Header fields whose whole value is a credential.
    private static let headers = [
        "Authorization", "Proxy-Authorization", "Cookie", "X-Sentry-Auth", "Bugsnag-Api-Key", "X-Api-Key",
        "X-Parse-REST-API-Key", "X-Parse-Client-Key", "X-Parse-JavaScript-Key", "X-Parse-Master-Key",
        "X-Parse-Session-Token", "X-Rollbar-Access-Token", "X-ClickHouse-Key", "X-Amz-Security-Token",
    ]
    /// Query items whose value is a credential.
    private static let queryItems = [
        "key", "p", "password", "token", "api_key", "api_secret", "sentry_key", "access_token", "token_auth",
    ]

    /// The most bytes of a compressed body after decompression.
    private static let limit = 16 << 20

    /// The forms of this vendor's credentials, by their first byte; the longest come first.
    private let forms: [[[UInt8]]]

    /// Redacts `secrets` wherever they occur, in plain or encoded form; ignores empty ones.
    init(secrets: [String]) {
        let all = Set(secrets.flatMap { SecretForms.all(of: $0) }).filter { !$0.isEmpty }
        var forms = [[[UInt8]]](repeating: [], count: 256)
        for form in all.sorted(by: { $0.count > $1.count }) { forms[Int(form[0])].append(form) }
        self.forms = forms
    }

    /// The text without the known credentials.
    func redact(_ text: String) -> String {
        redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// The bytes without the known credentials; nil if they have none.
    private func redacted(_ bytes: [UInt8]) -> [UInt8]? {
        var clean: [UInt8] = []
        var (index, copied) = (0, 0)
        while index < bytes.count {
            guard let found = forms[Int(bytes[index])].first(where: { bytes[index...].starts(with: $0) }) else {
                index += 1
                continue
            }
            clean += bytes[copied..<index]
            clean += Self.mark.utf8
            index += found.count
            copied = index
        }
        return copied == 0 ? nil : clean + bytes[copied...]
    }

    /// The header fields without credentials; the scheme of `Authorization` stays.
    func redact(_ headers: HTTPFields) -> HTTPFields {
        var redacted = HTTPFields()
        for field in headers {
            guard Self.headers.contains(where: { field.isNamed($0) }) else {
                redacted.append(field.name, redact(field.value))
                continue
            }
            let scheme = field.value.split(ascii: " ", maxSplits: 1)
            redacted.append(field.name, scheme.count == 2 ? "\(scheme[0]) \(Self.mark)" : Self.mark)
        }
        return redacted
    }

    /// The path and query without credentials.
    func redact(target request: SimulatedRequest) -> String {
        var query = request.query
        for index in query.items.indices where Self.queryItems.contains(query.items[index].name) {
            query.items[index].value = Self.mark
        }
        let text = query.items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return redact(query.items.isEmpty ? request.path : "\(request.path)?\(text)")
    }

    /// The request without the known credentials.
    func redact(_ request: SimulatedRequest) -> SimulatedRequest {
        var redacted = request
        redacted.target = redact(request.target)
        redacted.fields = HTTPFields(request.fields.map { HTTPField(name: $0.name, value: redact($0.value)) })
        redacted.body = redact(request.body)
        return redacted
    }

    /// The body without the known credentials. A compressed body that has any, or cannot be decompressed, becomes ``mark``.
    func redact(_ body: [UInt8]) -> [UInt8] {
        guard !forms.allSatisfy(\.isEmpty) else { return body }
        if body.starts(with: [0x1F, 0x8B]) {
            guard let content = try? ContentCoding.gzip.decode(body, limit: Self.limit), redacted(content) == nil else {
                return Array(Self.mark.utf8)
            }
        }
        return redacted(body) ?? body
    }
}
