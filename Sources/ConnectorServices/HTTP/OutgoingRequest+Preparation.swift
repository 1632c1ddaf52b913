// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
package import ConnectorInvocation

extension OutgoingRequest {
    /// Checks a plugin's request and inserts the secrets.
    ///
    /// - Parameter coding: The `Accept-Encoding`, unless the plugin sets one.
    package init(
        _ request: RequestTemplate,
        options: HTTPOptions,
        accepting coding: String = "gzip",
        secret: (String) -> String?
    ) throws(ServiceFailure) {
        guard request.method.isToken, request.method.utf8.count <= 32, request.method != "CONNECT" else {
            throw .invalid("the method is not a valid HTTP method")
        }
        method = request.method
        let template = SecretTemplate(Array(request.url.utf8))
        let address = try template.expanded(.percent, limit: RequestTemplate.urlLimit, isStrict: true, secret: secret)
        url = try HTTPTarget.parse(String(decoding: address.bytes, as: UTF8.self))
        maskedURL = address.containsSecret ? HTTPTarget.masked(url, from: template.masked) : nil
        headers = [:]
        body = request.body
        for field in request.headers {
            try add(field, secret: secret)
        }
        if headers["User-Agent"] == nil {
            headers.append("User-Agent", options.userAgent ?? "connector-host")
        }
        if headers["Accept-Encoding"] == nil {
            // A part of a compressed body cannot be decompressed.
            headers.append("Accept-Encoding", headers["Range"] == nil ? coding : "identity")
        }
        keepsMethod = request.flags & CONNECTOR_HTTP_KEEP_METHOD != 0
        keepsOrigin = request.flags & CONNECTOR_HTTP_KEEP_ORIGIN != 0
        isBodyInParts = request.flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0
        guard !isBodyInParts || request.flags & CONNECTOR_HTTP_GZIP_BODY == 0 else {
            throw .invalid("a body in parts cannot be compressed by the host")
        }
        if request.flags & CONNECTOR_HTTP_VERBATIM_BODY == 0 {
            let expansion = try SecretTemplate(body)
                .expanded(isJSON ? .json : .verbatim, limit: options.requestLimit, isStrict: false, secret: secret)
            body = expansion.bytes
            isBodySecret = expansion.containsSecret
        }
        if request.flags & CONNECTOR_HTTP_GZIP_BODY != 0, !body.isEmpty {
            if !request.isCompressed { body = try Gzip.compress(body) }
            headers.append("Content-Encoding", "gzip")
        }
    }

    /// The headers that only the host sets: connection headers (RFC 9110, section 7.6.1), framing, and `Host`, which
    /// could bypass the allow-list on a server with several virtual hosts.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    private mutating func add(_ field: HTTPField, secret: (String) -> String?) throws(ServiceFailure) {
        guard field.name.isToken else { throw .invalid("a header's name is not a valid HTTP field name") }
        guard !Self.reserved.contains(field.name.lowercased()) else { return }
        let expansion = try SecretTemplate(Array(field.value.utf8))
            .expanded(.verbatim, limit: 64 << 10, isStrict: true, secret: secret)
        // RFC 9110, section 5.5: a line break would begin another field.
        guard expansion.bytes.allSatisfy(\.isFieldValueCharacter) else {
            throw .invalid("the header \(field.name) has a line break or another control character in its value")
        }
        headers.append(field.name, String(decoding: expansion.bytes, as: UTF8.self))
        if expansion.containsSecret { secretFields.append(field.name) }
    }

    /// Whether `Content-Type` says that the body is JSON.
    private var isJSON: Bool {
        guard let type = headers["Content-Type"]?.mediaType else { return false }
        return type == "application/json" || type.hasSuffix("+json")
    }
}
