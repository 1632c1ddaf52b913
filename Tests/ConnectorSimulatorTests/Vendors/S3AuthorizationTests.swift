// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHTTPServer
import Testing

@testable import ConnectorSimulator

/// The signatures that S3 accepts. Those of `examplebucket` are examples of Amazon's API reference.
@Suite struct S3AuthorizationTests {
    private let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    private let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// A request that is signed in its header, with its fields sorted.
    private func request(
        _ method: String,
        _ path: String,
        _ fields: HTTPFields,
        signature: String,
        body: [UInt8] = []
    ) -> SimulatedRequest {
        var headers = fields
        headers["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            + "SignedHeaders=\(fields.map { $0.name.lowercased() }.joined(separator: ";")),Signature=\(signature)"
        return SimulatedRequest(method, path, headers: headers, body: body, receivedAt: noon)
    }

    /// The code of the refusal of a request; nil if it is accepted.
    private func refusal(of request: SimulatedRequest, secret: String? = nil) -> String? {
        do throws(S3Failure) {
            _ = try S3Authorization(request).checked(secretKey: secret ?? self.secret, sessionToken: nil)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a signed header is checked against the whole request`() {
        let fields: HTTPFields = [
            "Host": "examplebucket.s3.amazonaws.com", "Range": "bytes=0-9", "x-amz-content-sha256": empty,
            "x-amz-date": "20130524T000000Z",
        ]
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        #expect(refusal(of: request("GET", "/test.txt", fields, signature: signature)) == nil)
        #expect(
            refusal(of: request("GET", "/test.txt", fields, signature: signature), secret: "x")
                == "SignatureDoesNotMatch"
        )
        #expect(refusal(of: request("GET", "/other.txt", fields, signature: signature)) == "SignatureDoesNotMatch")
        let altered = request("GET", "/test.txt", fields, signature: signature, body: [1])
        #expect(refusal(of: altered) == "XAmzContentSHA256Mismatch")
    }

    @Test func `an unsigned body is accepted as it is`() {
        let fields: HTTPFields = [
            "Host": "s3.example", "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": "20130524T000000Z",
        ]
        let signature = "d014bb77791d48d7f4bebca25c28a8eafaa09ce7d33e50e4e41fdcb2e62636c2"
        for body in ["", "content"] {
            #expect(refusal(of: request("PUT", "/b/k", fields, signature: signature, body: Array(body.utf8))) == nil)
        }
    }

    @Test func `a presigned URL is valid until it expires`() {
        let query = """
            X-Amz-Algorithm=AWS4-HMAC-SHA256\
            &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
            &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
            &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404
            """
        func get(_ target: String, at time: String) -> SimulatedRequest {
            let headers: HTTPFields = ["Host": "examplebucket.s3.amazonaws.com"]
            return SimulatedRequest("GET", target, headers: headers, receivedAt: Timestamp(parsing: time) ?? noon)
        }
        #expect(refusal(of: get("/test.txt?\(query)", at: "2013-05-25T00:00:00Z")) == nil)
        #expect(refusal(of: get("/test.txt?\(query)", at: "2013-05-25T00:00:01Z")) == "AccessDenied")
        let longer = query.replacing("86400", with: "86401")
        #expect(refusal(of: get("/test.txt?\(longer)", at: "2013-05-25T00:00:00Z")) == "SignatureDoesNotMatch")
        let endless = query.replacing("86400", with: "604801")
        #expect(
            refusal(of: get("/test.txt?\(endless)", at: "2013-05-25T00:00:00Z")) == "AuthorizationQueryParametersError"
        )
        #expect(refusal(of: get("/test.txt", at: "2013-05-25T00:00:00Z")) == "AccessDenied")
        let old = "/test.txt?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=x&Expires=1"
        #expect(refusal(of: get(old, at: "2013-05-25T00:00:00Z")) == "InvalidRequest")
    }

    /// A body in chunks of 64 KiB and 1 KiB.
    private func chunks(_ signatures: [String], end: String = "\r\n") -> [UInt8] {
        zip(["10000", "400", "0"], signatures).reduce([]) { body, chunk in
            let count = Int(chunk.0, radix: 16) ?? 0
            let tail =
                count > 0 ? [UInt8](repeating: UInt8(ascii: "a"), count: count) + Array("\r\n".utf8) : Array(end.utf8)
            return body + Array("\(chunk.0);chunk-signature=\(chunk.1)\r\n".utf8) + tail
        }
    }

    @Test func `a body in signed chunks is taken apart`() throws {
        let fields: HTTPFields = [
            "Content-Encoding": "aws-chunked", "Content-Length": "66824", "Host": "s3.amazonaws.com",
            "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "x-amz-date": "20130524T000000Z",
            "x-amz-decoded-content-length": "66560", "x-amz-storage-class": "REDUCED_REDUNDANCY",
        ]
        let signatures = [
            "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
            "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
            "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
        ]
        func put(_ body: [UInt8]) -> SimulatedRequest {
            let signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
            return request("PUT", "/examplebucket/chunkObject.txt", fields, signature: signature, body: body)
        }
        let body = chunks(signatures)
        #expect(body.count == 66824)
        let checked = try S3Authorization(put(body)).checked(secretKey: secret, sessionToken: nil)
        #expect(checked.body == [UInt8](repeating: UInt8(ascii: "a"), count: 66560))
        var altered = body
        altered[100] = UInt8(ascii: "b")
        #expect(refusal(of: put(altered)) == "SignatureDoesNotMatch")
        #expect(refusal(of: put(chunks([signatures[1]] + signatures.dropFirst()))) == "SignatureDoesNotMatch")
        for body in [[], Array(body.dropLast(100)), Array(body.prefix(200)), Array("2\r\na".utf8)] {
            #expect(refusal(of: put(body)) == "IncompleteBody")
        }
    }

    @Test func `signed fields after the last chunk are fields of the request`() throws {
        let fields: HTTPFields = [
            "Content-Encoding": "aws-chunked", "Host": "s3.amazonaws.com",
            "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "x-amz-date": "20130524T000000Z",
            "x-amz-decoded-content-length": "66560", "x-amz-storage-class": "REDUCED_REDUNDANCY",
            "x-amz-trailer": "x-amz-checksum-crc32c",
        ]
        func put(_ trailer: String) -> SimulatedRequest {
            let signatures = [
                "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
            ]
            let end =
                trailer
                + "\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"
            let signature = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
            let body = chunks(signatures, end: end)
            return request("PUT", "/examplebucket/chunkObject.txt", fields, signature: signature, body: body)
        }
        let checked = try S3Authorization(put("x-amz-checksum-crc32c:sOO8/Q==")).checked(
            secretKey: secret,
            sessionToken: nil
        )
        #expect(checked.body.count == 66560 && checked.fields["x-amz-checksum-crc32c"] == "sOO8/Q==")
        try S3Checksum.check(checked.body, checked.fields)
        #expect(refusal(of: put("x-amz-checksum-crc32c:sOO8/A==")) == "SignatureDoesNotMatch")
    }

    @Test func `a body in unsigned chunks is taken apart`() throws {
        let fields: HTTPFields = [
            "Host": "s3.example", "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
            "x-amz-date": "20130524T000000Z", "x-amz-decoded-content-length": "3",
            "x-amz-trailer": "x-amz-checksum-crc32",
        ]
        let request = request(
            "PUT",
            "/b/k",
            fields,
            signature: "c92da9f38e719ef1aaf99f6d09d829e4a7e348783666eb65213da6f2e9160562",
            body: Array("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n".utf8)
        )
        let checked = try S3Authorization(request).checked(secretKey: secret, sessionToken: nil)
        #expect(checked.text == "abc" && checked.fields["x-amz-checksum-crc32"] == "NSRBwg==")
    }

    @Test func `a body keeps its content encoding`() throws {
        var options = SimulatorOptions()
        options.vendors = ["s3"]
        let simulator = try Simulator(options)
        // The body is no gzip, which no server needs to know.
        let fields: HTTPFields = ["Content-Encoding": "gzip"]
        let request = SimulatedRequest("PUT", "/demo/k", headers: fields, body: [1, 2, 3], receivedAt: noon)
        #expect(simulator.answer(request).response.status == 403)
    }
}
