// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Removes credentials from recorded requests.
struct Redaction: Sendable {
    /// The text that replaces a credential.
    static let mark = "•••"

    /// Header fields whose whole value is a credential.
    private static let headers = [
        "Authorization", "Proxy-Authorization", "Cookie", "X-Sentry-Auth", "Bugsnag-Api-Key", "X-Api-Key",
        "X-Parse-REST-API-Key", "X-Parse-Client-Key", "X-Parse-JavaScript-Key", "X-Parse-Master-Key",
        "X-Parse-Session-Token",
    ]
    /// Query items whose value is a credential.
    private static let queryItems = [
        "key", "p", "password", "token", "api_key", "api_secret", "sentry_key", "access_token",
    ]

    /// The credentials this vendor accepts, longest first.
    private let secrets: [String]

    /// Redacts `secrets` wherever they occur; ignores empty ones.
    init(secrets: [String]) {
        self.secrets = Set(secrets).filter { !$0.isEmpty }.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// The text without the known credentials.
    func redact(_ text: String) -> String {
        secrets.reduce(text) { $0.contains($1) ? $0.replacing($1, with: Self.mark) : $0 }
    }

    /// The header fields without credentials; keeps the scheme of `Authorization`.
    func redact(_ headers: HTTPFields) -> HTTPFields {
        var redacted = HTTPFields()
        for field in headers {
            guard Self.headers.contains(where: { field.isNamed($0) }) else {
                redacted.append(field.name, redact(field.value))
                continue
            }
            let scheme = field.value.split(separator: " ", maxSplits: 1)
            redacted.append(field.name, scheme.count == 2 ? "\(scheme[0]) \(Self.mark)" : Self.mark)
        }
        return redacted
    }

    /// Path and query without credentials.
    func redact(target request: SimulatedRequest) -> String {
        var query = request.query
        for index in query.items.indices where Self.queryItems.contains(query.items[index].name) {
            query.items[index].value = Self.mark
        }
        let text = query.items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return redact(query.items.isEmpty ? request.path : "\(request.path)?\(text)")
    }

    /// The body without the known credentials; keeps bytes that are not UTF-8.
    func redact(_ body: [UInt8]) -> [UInt8] {
        guard !secrets.isEmpty, let text = String(validating: body, as: UTF8.self) else { return body }
        let redacted = redact(text)
        return redacted == text ? body : Array(redacted.utf8)
    }
}
