// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// The parts of an HTTP request that the console uses.
struct WebRequest: Sendable {
    /// The method.
    var method: String
    /// The path and the query, as in the request line.
    var target: String
    /// The `Host` header.
    var authority: String?
    /// The header fields named in ``fieldNames``, by lowercase name.
    var fields: [String: String] = [:]
    /// The address of the client, for rate limiting.
    var peer = ""
    /// The body; empty until it has been read.
    var body: [UInt8] = []

    /// The names of the header fields that the console uses.
    static let fieldNames = [
        "accept", "authorization", "content-type", "cookie", "last-event-id", "origin", "purpose", "sec-fetch-dest",
        "sec-fetch-mode", "sec-fetch-site", "sec-purpose",
    ]

    /// Copies the used parts of a request.
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

    /// Whether the client accepts HTML, as browsers do on navigation.
    var wantsPage: Bool { fields["accept"]?.contains("text/html") ?? false }

    /// The value of a cookie; nil if it is not sent.
    func cookie(_ name: String) -> String? {
        for pair in (fields["cookie"] ?? "").split(separator: ";") {
            let text = pair.drop { $0 == " " }
            if text.hasPrefix(name + "=") { return String(text.dropFirst(name.utf8.count + 1)) }
        }
        return nil
    }

    /// The bearer token of the `Authorization` header; nil for none.
    var bearer: String? {
        guard let text = fields["authorization"], text.lowercased().hasPrefix("bearer ") else { return nil }
        return String(text.dropFirst(7).drop { $0 == " " })
    }
}
