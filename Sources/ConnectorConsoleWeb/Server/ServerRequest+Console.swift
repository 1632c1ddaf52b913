// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// The parts of a request that the console reads.
extension ServerRequest {
    /// The fields of the query.
    var parameters: QueryItems { QueryItems(form: query) }

    /// The fields of a form that was posted.
    var form: QueryItems { QueryItems(form: String(decoding: body, as: UTF8.self)) }

    /// Whether the client accepts HTML, as a browser does that shows the answer to a person.
    var wantsPage: Bool { fields["Accept"]?.contains("text/html") ?? false }

    /// The values of all cookies with a name. Browsers also send those set for other paths, ports and subdomains of the host.
    func cookies(_ name: String) -> [String] {
        (fields["Cookie"] ?? "").split(ascii: ";").compactMap { pair in
            let text = Substring(pair.utf8.drop(while: \.isBlank))
            guard text.starts(ascii: name + "=") else { return nil }
            return String(Substring(text.utf8.dropFirst(name.utf8.count + 1)))
        }
    }

    /// The token of an `Authorization` header.
    var bearer: String? {
        guard let text = fields["Authorization"]?.utf8, let space = text.firstIndex(of: UInt8(ascii: " ")),
            Substring(text[..<space]).isEqual(asciiIgnoringCase: "bearer")
        else { return nil }
        return String(Substring(text[space...].drop { $0 == UInt8(ascii: " ") }))
    }
}
