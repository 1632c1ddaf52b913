// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
internal import ConnectorHTTPServer

/// The AWS Signature Version 4 of a request, which the server recomputes to check it.
struct S3Authorization {
    /// The id of the access key.
    let accessKey: String
    private let scope: [Substring]
    private let fields: [String]
    private let signature: String
    private let request: SimulatedRequest

    /// Reads `Authorization: AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`.
    ///
    /// - Throws: `AccessDenied` without the header; `AuthorizationHeaderMalformed` if it cannot be read.
    init(_ request: SimulatedRequest) throws(S3Failure) {
        guard let header = request.fields["Authorization"] else { throw .accessDenied }
        let parts = header.split(separator: " ", maxSplits: 1)
        var values: [Substring: Substring] = [:]
        for item in parts.last?.split(separator: ",") ?? [] {
            let pair = item.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { values[pair[0]] = pair[1] }
        }
        let credential = values["Credential"]?.split(separator: "/") ?? []
        guard parts.first == "AWS4-HMAC-SHA256", credential.count == 5, let signature = values["Signature"],
            credential[3] == "s3", credential[4] == "aws4_request"
        else {
            throw S3Failure(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
        }
        accessKey = String(credential[0])
        scope = Array(credential.dropFirst())
        fields = values["SignedHeaders"]?.split(separator: ";").map { String($0) } ?? []
        self.signature = String(signature)
        self.request = request
    }

    /// Throws unless the request is unaltered and was signed with a secret and a session token.
    func check(secretKey: String, sessionToken: String?) throws(S3Failure) {
        guard request.fields["x-amz-security-token"] == sessionToken else {
            throw S3Failure(400, "InvalidToken", "The provided token is malformed or otherwise invalid.")
        }
        let present = request.fields.map { $0.name.lowercased() }.filter { $0.hasPrefix("x-amz-") } + ["host"]
        guard present.allSatisfy({ fields.contains($0) }) else {
            throw S3Failure(403, "AccessDenied", "There were headers present in the request which were not signed")
        }
        let payload = digest(of: request.body)
        guard request.fields["x-amz-content-sha256"] == payload else {
            throw S3Failure(
                400,
                "XAmzContentSHA256Mismatch",
                "The provided 'x-amz-content-sha256' header does not match what was computed."
            )
        }
        guard signature == expected(secretKey, payload) else {
            throw S3Failure(
                403,
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided."
            )
        }
    }

    private func expected(_ secretKey: String, _ payload: String) -> String {
        let query = request.request.query.split(separator: "&").map { $0.contains("=") ? String($0) : "\($0)=" }
            .sorted()
        let headers = fields.map { name in
            let value = request.fields[name] ?? ""
            return "\(name):\(value.split(separator: " ").joined(separator: " "))\n"
        }
        let canonical = [
            request.sentMethod, request.prefix + request.path, query.joined(separator: "&"),
            headers.joined(), fields.joined(separator: ";"), payload,
        ].joined(separator: "\n")
        let text = [
            "AWS4-HMAC-SHA256", request.fields["x-amz-date"] ?? "", scope.joined(separator: "/"),
            digest(of: Array(canonical.utf8)),
        ].joined(separator: "\n")
        let key = (scope.map { String($0) } + [text]).reduce(Array("AWS4\(secretKey)".utf8)) {
            HMACSHA256.code(of: Array($1.utf8), key: $0)
        }
        return Identifier.hexadecimal(key)
    }

    private func digest(of bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return hash.hexadecimal
    }
}
