// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// A request, as far as the console reads it.
struct WebRequest: Sendable {
    /// The method.
    var method: String
    /// The path, and perhaps a query.
    var target: String
    /// What the request calls this server: `Host`.
    var authority: String?
    /// The header fields that are read, by their names in lower case.
    var fields: [String: String] = [:]
    /// Who sent it, for counting.
    var peer = ""
    /// The body; empty until it was read.
    var body: [UInt8] = []

    /// The header fields that are read.
    static let fieldNames = [
        "accept", "authorization", "content-type", "cookie", "last-event-id", "origin", "purpose", "sec-fetch-dest",
        "sec-fetch-mode", "sec-fetch-site", "sec-purpose",
    ]

    /// Takes what the console reads of a request.
    init(_ request: ServerRequest) {
        method = request.method
        target = request.target
        authority = request.fields["Host"]
        peer = request.peer
        for name in Self.fieldNames { fields[name] = request.fields[name] }
    }

    /// The path without the query.
    var path: Substring { target.prefix { $0 != "?" } }

    /// The fields of the query.
    var query: QueryItems { QueryItems(form: target.dropFirst(path.count + 1)) }

    /// Whether a person reads the answer.
    var wantsPage: Bool { fields["accept"]?.contains("text/html") ?? false }

    /// The value of a cookie.
    func cookie(_ name: String) -> String? {
        for pair in (fields["cookie"] ?? "").split(separator: ";") {
            let text = pair.drop { $0 == " " }
            if text.hasPrefix(name + "=") { return String(text.dropFirst(name.utf8.count + 1)) }
        }
        return nil
    }

    /// The token of an `Authorization` header.
    var bearer: String? {
        guard let text = fields["authorization"], text.lowercased().hasPrefix("bearer ") else { return nil }
        return String(text.dropFirst(7).drop { $0 == " " })
    }
}
