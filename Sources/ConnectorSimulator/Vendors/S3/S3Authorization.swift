// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
internal import ConnectorHTTPServer

/// The AWS Signature Version 4 of a request, which the server recomputes to check it.
struct S3Authorization {
    /// The id of the access key.
    let accessKey: String
    /// The date, the region and the service that the signing key is for.
    private let scope: String
    /// The names of the signed header fields.
    private let fields: [String]
    /// The signature that the client sent.
    private let signature: String
    /// When the request was signed, as `20130524T000000Z`.
    private let date: String
    /// The session token of temporary credentials.
    private let token: String?
    /// How long a presigned URL is valid, in seconds; nil if the signature is in the header.
    private let lifetime: UInt64?
    /// The request as it came.
    private let request: SimulatedRequest

    /// Reads `Authorization: AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`, or the same in a presigned URL.
    ///
    /// - Throws: `AccessDenied` without either; an error of status 400 if it cannot be read.
    init(_ request: SimulatedRequest) throws(S3Failure) {
        var values: [String: String] = [:]
        let header = request.fields["Authorization"]
        if let header {
            let parts = header.split(ascii: " ", maxSplits: 1)
            guard parts.first == "AWS4-HMAC-SHA256" else { throw .otherMechanism }
            for item in parts.last?.split(ascii: ",") ?? [] {
                let pair = item.split(ascii: "=", maxSplits: 1).map { $0.trimmingBlanks() }
                if pair.count == 2 { values[pair[0]] = pair[1] }
            }
            values["Date"] = request.fields["x-amz-date"]
            values["Security-Token"] = request.fields["x-amz-security-token"]
        } else {
            for item in request.query.items where item.name.starts(ascii: "X-Amz-") {
                values[String(item.name.dropFirst(6))] = item.value
            }
            guard values["Algorithm"] == "AWS4-HMAC-SHA256" else {
                throw request.query["AWSAccessKeyId"] == nil && values.isEmpty ? .accessDenied : .otherMechanism
            }
        }
        let credential = values["Credential"]?.split(ascii: "/").map { String($0) } ?? []
        lifetime = header == nil ? values["Expires"].flatMap { UInt64($0) } : nil
        guard credential.count == 5, let signature = values["Signature"], credential[3] == "s3",
            credential[4] == "aws4_request", header != nil || (1...604_800).contains(lifetime ?? 0)
        else {
            throw header == nil
                ? S3Failure(400, "AuthorizationQueryParametersError", "The query-string authentication is malformed.")
                : S3Failure(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
        }
        accessKey = credential[0]
        scope = credential.dropFirst().joined(separator: "/")
        fields = values["SignedHeaders"]?.split(ascii: ";").map { String($0) } ?? []
        (date, token) = (values["Date"] ?? "", values["Security-Token"])
        (self.signature, self.request) = (signature, request)
    }

    /// The request with its content as the body, without chunks; throws unless it is unaltered, and was signed with a secret and a
    /// session token.
    func checked(secretKey: String, sessionToken: String?) throws(S3Failure) -> SimulatedRequest {
        guard token == sessionToken else {
            throw S3Failure(400, "InvalidToken", "The provided token is malformed or otherwise invalid.")
        }
        let present = request.fields.map { $0.name.lowercased() }.filter { $0.hasPrefix("x-amz-") } + ["host"]
        guard present.allSatisfy({ fields.contains($0) }) else {
            throw S3Failure(403, "AccessDenied", "There were headers present in the request which were not signed")
        }
        guard let payload = request.fields["x-amz-content-sha256"] ?? (lifetime == nil ? nil : "UNSIGNED-PAYLOAD")
        else {
            throw S3Failure(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
        }
        let key = scope.split(ascii: "/").reduce(Array("AWS4\(secretKey)".utf8)) {
            HMACSHA256.code(of: Array($1.utf8), key: $0)
        }
        // A request for the root of a vendor with a prefix may end with the prefix.
        let paths = [request.prefix + request.path] + (request.path == "/" ? [request.prefix] : [])
        let digests = paths.map { digest(of: Array(canonical($0, payload).utf8)) }
        guard digests.contains(where: { signature == code("AWS4-HMAC-SHA256", $0, key) }) else {
            throw .signatureDoesNotMatch
        }
        try checkLifetime()
        return try withContent(payload, key)
    }

    /// Throws if a presigned URL has expired.
    private func checkLifetime() throws(S3Failure) {
        guard let lifetime else { return }
        let parts = [date.prefix(4), date.dropFirst(4).prefix(2), date.dropFirst(6).prefix(5)].map { String($0) }
        let time = date.dropFirst(11)
        let text = "\(parts.joined(separator: "-")):\(time.prefix(2)):\(time.dropFirst(2))"
        guard let begin = Timestamp(parsing: text),
            request.receivedAt.nanoseconds / 1_000_000_000 <= begin.nanoseconds / 1_000_000_000 + lifetime
        else {
            throw S3Failure(403, "AccessDenied", "Request has expired")
        }
    }

    /// The request with its content as the body, which must be what the header `x-amz-content-sha256` says.
    private func withContent(_ payload: String, _ key: [UInt8]) throws(S3Failure) -> SimulatedRequest {
        var request = request
        switch payload {
        case "UNSIGNED-PAYLOAD": break
        case "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
            let isSigned = payload != "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
            let chunked = try S3ChunkedBody(request.body, seed: signature, signer: isSigned ? signer(key) : nil)
            let length = request.fields["x-amz-decoded-content-length"]
            guard length == "\(chunked.content.count)" else { throw .incompleteBody }
            request.body = chunked.content
            for field in chunked.trailers { request.fields.append(field.name, field.value) }
        default:
            guard payload == digest(of: request.body) else {
                let message = "The provided 'x-amz-content-sha256' header does not match what was computed."
                throw S3Failure(400, "XAmzContentSHA256Mismatch", message)
            }
        }
        return request
    }

    /// Signs the chunks of the body.
    private func signer(_ key: [UInt8]) -> S3ChunkedBody.Signer {
        { kind, previous, bytes in
            let digests = (kind == "PAYLOAD" ? [digest(of: [])] : []) + [digest(of: bytes)]
            return code("AWS4-HMAC-SHA256-\(kind)", ([previous] + digests).joined(separator: "\n"), key)
        }
    }

    /// The signature of a text of a kind.
    private func code(_ kind: String, _ text: String, _ key: [UInt8]) -> String {
        HMACSHA256.code(of: Array("\(kind)\n\(date)\n\(scope)\n\(text)".utf8), key: key).hexadecimal
    }

    /// The request in the form that is signed.
    private func canonical(_ path: String, _ payload: String) -> String {
        let query = QueryItems.encoded(request.request.query).map { (String($0.name), String($0.value ?? "")) }
            .filter { lifetime == nil || $0.0 != "X-Amz-Signature" }.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }
        let headers = fields.map { name in
            let values = request.fields.filter { $0.isNamed(name) }.map { field in
                field.value.split(ascii: " ").joined(separator: " ")
            }
            return "\(name):\(values.joined(separator: ","))\n"
        }
        return [
            request.sentMethod, path, query.joined(separator: "&"),
            headers.joined(), fields.joined(separator: ";"), payload,
        ].joined(separator: "\n")
    }

    /// The SHA-256 digest of bytes.
    private func digest(of bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return hash.hexadecimal
    }
}
