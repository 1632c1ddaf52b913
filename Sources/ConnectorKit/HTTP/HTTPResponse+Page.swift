// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What servers and gateways say in their own words, and not in a vendor's.
extension HTTPResponse {
    /// What a server with TLS misses in a request.
    package enum TLSRefusal: Sendable, Hashable {
        /// TLS: the URL has `http` and the port speaks `https`.
        case plain
        /// A certificate of the client.
        case certificate
    }

    /// What a server with TLS says that it misses, in the words of Go, nginx, Apache or Tomcat; nil for any other answer.
    package var tlsRefusal: TLSRefusal? {
        guard status == 400 else { return nil }
        let words = excerpt(of: 1024)
        if Self.refusalsOfPlainText.contains(where: { words.contains($0) }) { return .plain }
        return words.contains("No required SSL certificate was sent") ? .certificate : nil
    }

    /// Whether the body is a refusal in a form that many gateways have: problem details (RFC 9457), an object with only a `message`, as from
    /// Kong and AWS API Gateway, or the list of faults of FastAPI.
    package var isGatewaysRefusal: Bool {
        if headers["Content-Type"]?.mediaType == "application/problem+json" { return true }
        guard let body = (try? json())?.object else { return false }
        if body["detail"]?[0]?["loc"] != nil { return true }
        if ["title", "status", "detail"].allSatisfy({ body[$0] != nil }) { return true }
        let names = body.members.map(\.name)
        return names.contains("message") && names.allSatisfy { ["message", "request_id", "requestId"].contains($0) }
    }

    private static let refusalsOfPlainText = [
        "sent an HTTP request to an HTTPS server", "plain HTTP request was sent to HTTPS port",
        "speaking plain HTTP to an SSL-enabled server port", "combination of host and port requires TLS",
    ]

    /// The title of a web page, as one line; nil if its beginning has none.
    package var title: String? {
        let text = excerpt(of: 1024)
        guard let start = text.firstRange(of: "<title>") ?? text.firstRange(of: "<TITLE>"),
            let end = text[start.upperBound...].firstIndex(of: "<")
        else { return nil }
        let words = text[start.upperBound..<end].split(separator: " ").joined(separator: " ")
        return words.isEmpty ? nil : words
    }
}
