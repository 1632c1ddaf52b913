// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// What the console reads of a request.
extension ServerRequest {
    /// The fields of the query.
    var parameters: QueryItems { QueryItems(form: query) }

    /// The fields of a form that was posted.
    var form: QueryItems { QueryItems(form: String(decoding: body, as: UTF8.self)) }

    /// Whether a person reads the answer.
    var wantsPage: Bool { fields["Accept"]?.contains("text/html") ?? false }

    /// The value of a cookie.
    func cookie(_ name: String) -> String? {
        for pair in (fields["Cookie"] ?? "").split(separator: ";") {
            let text = pair.drop { $0 == " " }
            if text.hasPrefix(name + "=") { return String(text.dropFirst(name.utf8.count + 1)) }
        }
        return nil
    }

    /// The token of an `Authorization` header.
    var bearer: String? {
        guard let text = fields["Authorization"], text.lowercased().hasPrefix("bearer ") else { return nil }
        return String(text.dropFirst(7).drop { $0 == " " })
    }
}
