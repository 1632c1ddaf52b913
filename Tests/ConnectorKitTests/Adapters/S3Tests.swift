// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorSimulator
internal import Testing

@testable internal import s3

/// The adapter of S3 and of servers that speak its protocol: opening, reading and listing.
@Suite struct S3Tests: S3Suite {
    // MARK: Opening

    @Test func `credentials are proved only if a request without them is refused`() async throws {
        for (answer, kind) in [
            (error(403, "AccessDenied"), Evidence.Kind.authenticated), ((401, ""), .authenticated),
            (error(400, "InvalidArgument"), .authenticated), (list([]), .reachable),
        ] {
            let http = http([list([]), answer])
            #expect(try await s3(http).open().map(\.kind) == [kind])
            #expect(http.requests.map(\.method) == [.get, .get])
            #expect(
                http.requests[0].url.description
                    == "http://vendor.example:9000/b?list-type=2&encoding-type=url&max-keys=1"
            )
            #expect(http.requests[0].headers["x-amz-date"] == "20260131T093000Z")
            #expect(
                http.requests[0].headers["Authorization"]?.contains("/20260131/eu-central-1/s3/aws4_request") == true
            )
            #expect(http.requests[1].headers["Authorization"] == nil)
        }
    }

    @Test func `a request without credentials that gets no answer, or another one, does not fail the opening`()
        async throws
    {
        let listed = ScriptedHTTP.Answer.response(HTTPResponse(status: 200, body: Array(list([]).1.utf8)))
        let late = ScriptedHTTP.Answer.failure(PluginError(.timedOut, "too late"))
        for answer in [late, .response(HTTPResponse(status: 503)), .response(HTTPResponse(status: 404))] {
            let http = ScriptedHTTP([listed, answer])
            #expect(try await s3(http).open() == [.reachable("the bucket b is listed")])
            #expect(http.requests.count == 2)
        }
    }

    @Test func `a bucket of Cloudflare R2 opens`() async throws {
        let fields = [
            "region": "auto", "bucket": "demo", "accessKey": "demo-access-key", "secretKey": "demo-secret-key",
        ]
        let http = try SimulatedHTTP("s3", configuration: fields, isAccepted: true)
        let s3 = try s3(http, ["region": "auto", "bucket": "demo"])
        #expect(try await s3.open().map(\.kind) == [.authenticated])
        #expect(http.received.map(\.status) == [200, 400])
    }

    @Test func `the host's name may name the bucket`() async throws {
        let http = http([list([]), error(403, "AccessDenied")])
        _ = try await s3(http, ["endpoint": "https://b.s3.example/", "virtualHost": true]).open()
        #expect(http.requests[0].url.description == "https://b.s3.example/?list-type=2&encoding-type=url&max-keys=1")
    }

    @Test(arguments: ["", "a/b", "a?b", "..", "a{{secret:secretKey}}"])
    func `an invalid name of a bucket or region is refused`(name: String) {
        #expect(throws: PluginError.self) { try s3(ScriptedHTTP(), ["bucket": .string(name)]) }
        #expect(throws: PluginError.self) {
            try s3(ScriptedHTTP(), ["region": .string(name.replacing("..", with: "a|b"))])
        }
    }

    @Test(arguments: [
        (403, "InvalidAccessKeyId", PluginStatus.unauthorized), (403, "SignatureDoesNotMatch", .unauthorized),
        (400, "ExpiredToken", .unauthorized), (403, "RequestTimeTooSkewed", .failed),
        (400, "AuthorizationHeaderMalformed", .unauthorized), (403, "AccessDenied", .denied),
        (403, "InvalidObjectState", .denied), (401, "Unheard", .unauthorized),
        (404, "NoSuchBucket", .notFound), (301, "PermanentRedirect", .invalid), (503, "SlowDown", .rateLimited),
        (500, "InternalError", .unavailable), (200, "InternalError", .unavailable), (400, "Unheard", .invalid),
        (400, "IncompleteBody", .unavailable),
        (409, "OperationAborted", .conflict),
    ])
    func `a refusal says what S3 says`(status: Int, code: String, expected: PluginStatus) async throws {
        let http = http([error(status, code)], ["Retry-After": "7", "Content-Type": "application/xml"])
        let error = await failure { _ = try await s3(http).open() }
        #expect(error?.status == expected && error?.domain == "s3" && error?.detail == Int32(status))
        #expect(error?.message.hasPrefix("s3 answered HTTP \(status): \(code): So it is") == true)
        #expect(error?.retryAfter == .seconds(7))
        #expect(error?.isRetryable == ([.rateLimited, .unavailable].contains(expected) || code == "OperationAborted"))
    }

    @Test(arguments: [
        (403, "RequestTimeTooSkewed", PluginStatus.failed, "; set this machine's clock"),
        (400, "ExpiredToken", .unauthorized, "; renew accessKey, secretKey and sessionToken"),
        (400, "AuthorizationHeaderMalformed", .invalid, #"; Region eu-west-3; set "region" to eu-west-3"#),
        (507, "XMinioStorageFull", .unavailable, "; Region eu-west-3"),
        (403, "QuotaExceeded", .unavailable, "; raise the quota of the bucket or its user, or remove files"),
        (400, "XMinioAdminBucketQuotaExceeded", .unavailable, "or remove files"),
    ])
    func `a refusal that needs more than other credentials says what to do`(
        status: Int,
        code: String,
        expected: PluginStatus,
        words: String
    ) async throws {
        let document = error(status, code).1.replacing("</Error>", with: "<Region>eu-west-3</Region></Error>")
        let error = await failure { _ = try await s3(http([(status, document)])).get("a", from: 0, count: 1, tag: nil) }
        #expect(error?.status == expected && error?.isRetryable == false && error?.detail == Int32(status))
        #expect(error?.message.hasSuffix(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        ("<Code>NoSuchBucket</Code><BucketName>b</BucketName>", "NoSuchBucket; BucketName b"),
        ("<Code>NoSuchBucket</Code><Message></Message>", "NoSuchBucket; BucketName b"),
        ("<Code></Code><Message>No such bucket</Message>", "No such bucket"),
    ])
    func `an error without a message, as Ceph has it, is its code`(elements: String, words: String) async throws {
        let http = http([(404, "<?xml version=\"1.0\"?><Error>\(elements)</Error>")])
        let error = await failure { _ = try await s3(http).open() }
        #expect(error?.message == "s3 answered HTTP 404: \(words)")
    }

    @Test func `an endpoint that names no bucket although virtualHost says so is a mistake of the configuration`()
        async throws
    {
        let http = http([(200, "<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>")])
        let error = await failure { _ = try await s3(http, ["virtualHost": true]).open() }
        #expect(error?.status == .invalid && error?.isRetryable == false)
        #expect(error?.message.contains("with virtualHost, it must be the bucket's own") == true)
    }

    @Test(arguments: [(301, PluginStatus.invalid, false), (307, .unavailable, true)])
    func `a redirect says in which region and at which endpoint the bucket is, also in answer to HEAD`(
        status: Int,
        expected: PluginStatus,
        isRetryable: Bool
    ) async throws {
        let fields: HTTPFields = [
            "Location": "https://b.s3.eu-west-1.amazonaws.com/a?x", "x-amz-bucket-region": "eu-west-1",
        ]
        let place = "; Region eu-west-1; Endpoint b.s3.eu-west-1.amazonaws.com"
        let code = status == 301 ? "PermanentRedirect" : "TemporaryRedirect"
        let redirect = error(status, code)
        for (answer, words) in [(redirect, "\(code): So it is\(place)"), ((status, ""), "\(code): the bucket")] {
            let http = http([answer], fields)
            let error = await failure { _ = try await s3(http).head("a") }
            #expect(error?.status == expected && error?.isRetryable == isRetryable && error?.detail == Int32(status))
            #expect(error?.message.hasPrefix("s3 answered HTTP \(status): \(words)") == true, "\(error?.message ?? "")")
            #expect(error?.message.hasSuffix(place) == true)
            #expect(http.requests.allSatisfy { $0.keepsOrigin })
        }
    }

    // MARK: Reading

    @Test func `head reads what the server says of a file`() async throws {
        var fields = entry
        fields["Content-Type"] = "text/plain"
        fields["x-amz-meta-sha256"] = String(repeating: "ab", count: 32)
        let http = http([(200, "")], fields)
        let found = try await s3(http).head("é/a b")
        #expect(found.size == 3 && found.tag == "1a" && found.contentType == "text/plain")
        #expect(found.digest == String(repeating: "ab", count: 32))
        #expect(http.paths == ["/b/%C3%A9/a%20b"])
        fields["x-amz-meta-sha256"] = "not a digest"
        #expect(try await s3(self.http([(200, "")], fields)).head("a").digest == nil)
    }

    @Test func `a head that is refused without words is unauthorized`() async throws {
        let error = await failure { _ = try await s3(http([(400, "")])).head("a") }
        #expect(error?.status == .unauthorized && error?.isRetryable == false)
        #expect(error?.message.contains("may have expired") == true)
        let forbidden = await failure { _ = try await s3(http([(403, "")])).head("a") }
        #expect(forbidden?.status == .unauthorized && forbidden?.message.contains("without s3:ListBucket") == true)
    }

    @Test(arguments: ["Content-Length", "Last-Modified", "ETag"])
    func `a head without size, time or tag breaks the protocol`(name: String) async throws {
        var fields = entry
        fields[name] = "-"
        if name == "ETag" { fields[name] = nil }
        let error = await failure { _ = try await s3(http([(200, "")], fields)).head("a") }
        #expect(error?.status == .protocolViolation)
    }

    @Test(arguments: [(404, PluginStatus.notFound), (403, .unauthorized), (503, .unavailable)])
    func `a status without a body is an error, too`(status: Int, expected: PluginStatus) async throws {
        #expect(await failure { _ = try await s3(http([(status, "")])).head("a") }?.status == expected)
    }

    /// But for HEAD, whose answer has no body.
    @Test func `once the bucket is gone, no file is said to be missing, and the error names the bucket`() async throws {
        let gone = error(404, "NoSuchBucket")
        for error in [
            await failure { _ = try await s3(http([gone])).get("a", from: 0, count: 9, tag: nil) },
            await failure { _ = try await s3(http([gone])).list(prefix: "", after: "", limit: 9) },
            await failure { _ = try await s3(http([gone])).copy("a", to: "b") },
            await failure { try await s3(http([gone])).remove("a") },
        ] {
            #expect(error?.status == .unavailable && error?.isRetryable == false && error?.detail == 404)
            #expect(error?.message == "s3 answered HTTP 404: NoSuchBucket: So it is; BucketName b")
        }
    }

    @Test(arguments: [0, 2, 3, 9] as [UInt64])
    func `a part that the server refuses although the file has it is the server's mistake`(offset: UInt64) async throws
    {
        let s3 = try s3(http([error(416, "InvalidRange"), (200, "")], entry))
        guard offset < 3 else {
            #expect(try await s3.get("a", from: offset, count: 3, tag: "1a") == [])
            return
        }
        let error = await failure { _ = try await s3.get("a", from: offset, count: 3, tag: "1a") }
        #expect(error?.status == .protocolViolation && error?.detail == 416)
        #expect(error?.message == "the server refuses byte \(offset) of \"a\", which has more")
    }

    @Test func `a part is read if the file is still the same`() async throws {
        let http = http([(206, "cd")], ["Content-Range": "bytes 2-3/4", "ETag": "\"1a\""])
        #expect(try await s3(http).get("a", from: 2, count: 9, tag: "1a") == Array("cd".utf8))
        #expect(http.requests[0].headers["Range"] == "bytes=2-10" && http.requests[0].headers["If-Match"] == "\"1a\"")
        for answer in [error(412, "PreconditionFailed"), (200, "abcd")] {
            let http = self.http([answer], ["ETag": "\"2b\""])
            #expect(
                await failure { _ = try await s3(http).get("a", from: 0, count: 9, tag: "1a") }?.status == .conflict
            )
        }
        #expect(try await s3(self.http([error(416, "InvalidRange")])).get("a", from: 9, count: 9, tag: nil) == [])
    }

    @Test func `a list goes on until its page is full, and skips keys that are not paths`() async throws {
        let http = http([list(["a/", "a//c", "a/b"], isTruncated: true), list(["c", "d"], isTruncated: true)])
        let page = try await s3(http).list(prefix: "", after: "A", limit: 2)
        #expect(page.files.map(\.path) == ["a/b", "c"] && page.hasMore)
        #expect(http.requests.map { $0.url.value(of: "start-after") } == ["A", "a/b"])
    }

    @Test(arguments: [(["a/", "b/", "c/", "d/"], nil), (["a/", "b", "c/", "d/"], ["b"])] as [([String], [String]?)])
    func `a list without end is given up in time, with the files that it has`(
        _ keys: [String],
        _ expected: [String]?
    ) async throws {
        let clock = StoppedClock()
        let pages = keys.map { list([$0], isTruncated: true).1 }
        let http = ScriptedHTTP(
            pages.map { .response(HTTPResponse(status: 200, body: Array($0.utf8))) },
            delay: (.seconds(3), clock)
        )
        let s3 = try s3(http)
        if let expected {
            let page = try await Deadline.apply(10_000_000_000, on: clock) {
                try await s3.list(prefix: "", after: "", limit: 9)
            }
            #expect(page.files.map(\.path) == expected && page.hasMore)
        } else {
            let error = await failure {
                _ = try await Deadline.apply(10_000_000_000, on: clock) {
                    try await s3.list(prefix: "", after: "", limit: 9)
                }
            }
            #expect(error?.status == .timedOut && error?.isRetryable == true)
            #expect(error?.message.contains("\"c/\"") == true)
        }
        // The pages come after 3, 6 and 9 seconds; half of the time left at the first is over after 6.5.
        #expect(http.requests.count == 3)
    }

    @Test(arguments: [
        ("Size", "<Size>3</Size>"), ("LastModified", "<LastModified>2026-01-31T09:30:00.000Z</LastModified>"),
        ("ETag", "<ETag>&quot;1a&quot;</ETag>"),
    ])
    func `an object that the list describes in part is named`(_ element: String, _ text: String) async throws {
        func page(_ key: String) -> (Int, String) {
            let (status, whole) = list(["a", key])
            // The last element of this name is the second object's.
            let parts = whole.split(separator: text, omittingEmptySubsequences: false).map { String($0) }
            return (status, parts[0] + text + parts[1] + "<\(element)></\(element)>" + parts[2])
        }
        let error = await failure { _ = try await s3(http([page("dir")])).list(prefix: "", after: "", limit: 9) }
        #expect(error?.status == .protocolViolation)
        #expect(error?.message.contains(#"the object "dir" without a valid \#(element)"#) == true)
        // What is no file needs none of them.
        let listed = try await s3(http([page("dir/")])).list(prefix: "", after: "", limit: 9)
        #expect(listed.files.map(\.path) == ["a"])
    }

    @Test func `keys are decoded where the list says that they are encoded`() async throws {
        let (_, plain) = list(["a+b%20c", "d/%C3%A9"])
        let encoded = plain.replacing("<IsTruncated>", with: "<EncodingType>url</EncodingType><IsTruncated>")
        for (document, keys) in [(plain, ["a+b%20c", "d/%C3%A9"]), (encoded, ["a b c", "d/é"])] {
            let page = try await s3(http([(200, document)])).list(prefix: "", after: "", limit: 9)
            #expect(page.files.map(\.path) == keys)
        }
        // A key that XML cannot hold is not a path, and does not hide the others.
        let odd = list(["a%01", "a%2B"]).1
            .replacing("<IsTruncated>", with: "<EncodingType>url</EncodingType><IsTruncated>")
        #expect(try await s3(http([(200, odd)])).list(prefix: "", after: "", limit: 9).files.map(\.path) == ["a+"])
        let wrong = encoded.replacing("%20", with: "%FF")
        let error = await failure { _ = try await s3(http([(200, wrong)])).list(prefix: "", after: "", limit: 9) }
        #expect(error?.status == .protocolViolation && error?.message.contains("a+b%FFc") == true)
    }

    @Test(
        arguments: [
            ("b/", "a", nil), ("b/", "b", nil), ("b/", "b/", "b/"), ("b/", "b/x", "b/x"), ("b/", "c", "c"),
            ("", "a", "a"),
        ] as [(String, String, String?)]
    )
    func `a list never begins before its prefix`(prefix: String, after: String, sent: String?)
        async throws
    {
        let http = http([list([])])
        _ = try await s3(http).list(prefix: prefix, after: after, limit: 9)
        #expect(http.requests[0].url.value(of: "start-after") == sent)
        #expect(http.requests[0].url.value(of: "encoding-type") == "url")
    }

    @Test func `a list that breaks off, goes back or makes no progress is an error`() async throws {
        let (_, whole) = list(["a"])
        for answers in [
            [(200, String(whole.prefix(200)))], [(200, "<ListBucketResult/>")], [list(["b", "a"])],
            [list([], isTruncated: true)], [list(["a"], isTruncated: true), list(["a"], isTruncated: true)],
            [(200, whole.replacing("<Size>3</Size>", with: "<Size>-1</Size>"))],
        ] {
            let error = await failure { _ = try await s3(http(answers)).list(prefix: "", after: "", limit: 9) }
            #expect(error?.status == .protocolViolation)
        }
        let other = await failure { _ = try await s3(http([list(["b"])])).list(prefix: "a", after: "", limit: 9) }
        #expect(other?.status == .protocolViolation)
    }
}
