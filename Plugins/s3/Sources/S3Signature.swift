// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest

/// Signs requests with AWS Signature Version 4
/// (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
///
/// The adapter knows no secret: it writes the text to sign, and the host computes the signature as it sends the
/// request.
struct S3Signature {
    let region: String
    let accessKey: SecretPlaceholder
    let secretKey: SecretPlaceholder
    let sessionToken: SecretPlaceholder?

    /// The request with its time, the digest of its body, and a signature that covers both and all its headers.
    ///
    /// - Parameter now: The time; servers refuse one that differs from theirs by more than 15 minutes.
    func signed(_ request: HTTPRequest, at now: Timestamp) -> HTTPRequest {
        var request = request
        var hash = SHA256()
        hash.update(request.body)
        let (payload, time) = (hash.hexadecimal, Self.time(now))
        request.headers["x-amz-content-sha256"] = payload
        request.headers["x-amz-date"] = time
        request.headers["x-amz-security-token"] = sessionToken?.text

        let target = request.url.description.dropFirst(request.url.origin.count)
        let path = target.prefix { $0 != "?" }
        let fields =
            (request.headers.map { ($0.name.lowercased(), Self.trimmed($0.value)) } + [("host", Self.host(request.url))])
            .sorted { $0.0 < $1.0 }
        let names = fields.map(\.0).joined(separator: ";")
        let canonical = [
            request.method.rawValue, path.isEmpty ? "/" : String(path), Self.query(target.dropFirst(path.count)),
            fields.map { "\($0.0):\($0.1)\n" }.joined(), names, payload,
        ].joined(separator: "\n")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(SecretPlaceholder.sha256(of: canonical))"
        let signature = SecretPlaceholder.hmacSHA256(
            of: day,
            region,
            "s3",
            "aws4_request",
            text,
            key: "AWS4\(secretKey)"
        )
        request.headers["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return request
    }

    /// A time as `20130524T000000Z`.
    private static func time(_ now: Timestamp) -> String {
        // 2013-05-24T00:00:00.000Z
        now.description.prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" } + "Z"
    }

    /// The host as the client sends it: with the port, unless it is the scheme's default.
    private static func host(_ url: HTTPURL) -> String {
        guard var parts = URLParts(url.origin) else { return "" }
        if parts.port == (parts.scheme == "https" ? 443 : 80) { parts.port = nil }
        return String(parts.description.dropFirst(parts.scheme.count + 3))
    }

    /// The items of a query, sorted; the URL contains them already encoded.
    private static func query(_ text: Substring) -> String {
        QueryItems.encoded(text.dropFirst()).map { (String($0.name), String($0.value ?? "")) }
            .sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// A header's value without surrounding spaces, and with each run of spaces reduced to one.
    private static func trimmed(_ value: String) -> String {
        value.utf8.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }
}
