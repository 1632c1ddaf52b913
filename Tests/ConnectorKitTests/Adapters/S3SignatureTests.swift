// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorServices
internal import Testing

@testable internal import s3

/// Signatures, by the examples that Amazon publishes for S3 (Authenticating Requests: Using the Authorization Header).
@Suite struct S3SignatureTests {
    private let secrets = [
        "accessKey": "AKIAIOSFODNN7EXAMPLE", "secretKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "sessionToken": "token|}}with{{marks",
    ]

    private func signature(_ token: String? = nil) -> S3Signature {
        S3Signature(
            region: "us-east-1",
            accessKey: SecretPlaceholder(field: "accessKey"),
            secretKey: SecretPlaceholder(field: "secretKey"),
            sessionToken: token.map { SecretPlaceholder(field: $0) }
        )
    }

    /// The header as the host sends it.
    private func authorization(_ request: HTTPRequest, token: String? = nil) throws -> String {
        let time = try #require(Timestamp(parsing: "2013-05-24T00:00:00Z"))
        let signed = signature(token).signed(request, at: time)
        let template = SecretTemplate(Array(try #require(signed.headers["Authorization"]).utf8))
        let expansion = try template.expanded(.verbatim, limit: 64 << 10, isStrict: true) { secrets[$0] }
        #expect(expansion.containsSecret)
        return String(decoding: expansion.bytes, as: UTF8.self)
    }

    private let root = HTTPURL("https://examplebucket.s3.amazonaws.com")

    private func expected(_ names: String, _ signature: String) -> String {
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            + "SignedHeaders=\(names),Signature=\(signature)"
    }

    @Test func `a part of an object is read`() throws {
        let request = HTTPRequest(.get, try #require(root).appending("test.txt"), headers: ["Range": "bytes=0-9"])
        let names = "host;range;x-amz-content-sha256;x-amz-date"
        #expect(
            try authorization(request)
                == expected(names, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        )
    }

    @Test func `an object is put`() throws {
        let request = HTTPRequest(
            .put,
            try #require(root).appending("test$file.text"),
            headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
            body: Array("Welcome to Amazon S3.".utf8)
        )
        let names = "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class"
        #expect(
            try authorization(request)
                == expected(names, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        )
    }

    @Test func `the items of a query are signed in order`() throws {
        let url = try #require(root).appending(path: "/").with("prefix", "J").with("max-keys", "2")
        #expect(
            try authorization(HTTPRequest(.get, url))
                == expected(
                    "host;x-amz-content-sha256;x-amz-date",
                    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
                )
        )
    }

    @Test func `a query without a value is signed as empty`() throws {
        let url = try #require(root).appending(path: "/").with("lifecycle", "")
        #expect(
            try authorization(HTTPRequest(.get, url))
                == expected(
                    "host;x-amz-content-sha256;x-amz-date",
                    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
                )
        )
    }

    @Test func `a session's token is signed as its value, whatever is in it`() throws {
        let request = HTTPRequest(.get, try #require(root).appending("test.txt"))
        let names = "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
        #expect(
            try authorization(request, token: "sessionToken")
                == expected(names, "72e3dde368dcd4e7469b2cfd57ed24d6dd8b21d88c08ccfbc12d55e1308124fd")
        )
    }

    @Test(arguments: [
        ("http://localhost:9000", "localhost:9000"), ("http://localhost:80", "localhost"),
        ("https://s3.example:443", "s3.example"), ("https://s3.example:80", "s3.example:80"),
        ("http://[::1]:9000", "[::1]:9000"),
    ])
    func `the host is signed as the client sends it`(endpoint: String, host: String) throws {
        let request = HTTPRequest(.get, try #require(HTTPURL(endpoint)))
        let signed = signature().signed(request, at: Timestamp(nanoseconds: 0))
        #expect(signed.headers["Authorization"]?.contains("\nhost:\(host)\n") == true)
    }
}
