// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

@testable internal import s3

/// The adapter of S3 and of servers that speak its protocol: uploads and removals.
@Suite struct S3WritingTests: S3Suite {
    @Test func `a file of one part is put with its digest, under its condition`() async throws {
        for (condition, found, name, value) in [
            (FileCondition.absent, 404, "If-None-Match", "*"), (.tag("1a"), 200, "If-Match", "\"1a\""),
        ] {
            let http = http([(found, ""), (200, ""), (200, "")], entry)
            let s3 = try s3(http)
            let upload = try await s3.createUpload(FileUploadRequest("a", contentType: "a/b", condition: condition))
            try await s3.uploadPart(Array("abc".utf8), of: upload.id, at: 0)
            _ = try await s3.completeUpload(upload.id, size: 3, digest: nil)
            #expect(http.requests.map(\.method) == [.head, .put, .head])
            #expect(http.requests[1].text == "abc" && http.requests[1].headers["Content-Type"] == "a/b")
            #expect(http.requests[1].headers[name] == value)
            #expect(http.requests[1].headers["x-amz-meta-upload"] == upload.id)
            #expect(
                http.requests[1].headers["x-amz-meta-sha256"]
                    == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            )
        }
    }

    /// Puts three bytes.
    private func put(_ http: some HTTPService, _ condition: FileCondition) async throws {
        let s3 = try s3(http)
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: condition))
        try await s3.uploadPart(Array("abc".utf8), of: upload.id, at: 0)
        _ = try await s3.completeUpload(upload.id, size: 3, digest: nil)
    }

    @Test func `a file without a condition is put without being asked for`() async throws {
        let http = http([(200, ""), (200, "")], entry)
        try await put(http, .any)
        #expect(http.requests.map(\.method) == [.put, .head])
    }

    @Test(arguments: [(FileCondition.absent, 200), (.tag("2b"), 200), (.tag("1a"), 404)])
    func `a condition that is not met is a conflict before anything is sent, since a server may ignore it`(
        _ condition: FileCondition,
        _ found: Int
    ) async throws {
        let http = http([(found, ""), (200, ""), (200, "")], entry)
        #expect(await failure { try await put(http, condition) }?.status == .conflict)
        #expect(http.requests.map(\.method) == [.head])
    }

    @Test func `an answer of somebody else does not decide about a condition`() async throws {
        let http = http([(200, "<html>Sign in</html>"), (200, ""), (200, "")])
        #expect(await failure { try await put(http, .absent) }?.status == .protocolViolation)
        #expect(http.requests.map(\.method) == [.head])
    }

    @Test(
        arguments: [(FileCondition.absent, 1), (.absent, 2), (.any, 1), (.any, 2)],
        [PutLoss.request, .answer, .sense]
    )
    func `a put whose answer is lost or strange has put the upload's own file, or is repeated`(
        _ put: (condition: FileCondition, parts: Int),
        _ loss: PutLoss
    ) async throws {
        let (condition, parts) = put
        let bucket = ForgetfulBucket(loss)
        let s3 = try s3(bucket)
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: condition))
        let size = UInt64(upload.partSize) * UInt64(parts - 1) + 1
        if parts == 2 {
            try await s3.uploadPart([UInt8](repeating: 1, count: upload.partSize), of: upload.id, at: 0)
        }
        try await s3.uploadPart([1], of: upload.id, at: size - 1)
        if loss == .request {
            let lost = await failure { _ = try await s3.completeUpload(upload.id, size: size, digest: nil) }
            #expect(lost?.status == .timedOut)
        }
        #expect(try await s3.completeUpload(upload.id, size: size, digest: nil).tag == "1a")
        #expect(bucket.puts == (loss == .request ? 2 : 1))
        // Another file, even of the same content, is not the upload's own.
        #expect(await failure { try await self.put(bucket, .absent) }?.status == .conflict)
    }

    @Test func `a file with a tag that is removed between the question and the put is a conflict`() async throws {
        let http = http([(200, ""), error(404, "NoSuchKey"), (404, "")], entry)
        #expect(await failure { try await put(http, .tag("1a")) }?.status == .conflict)
        #expect(http.requests.map(\.method) == [.head, .put, .head])
    }

    @Test func `a put that another program's put refuses names the file, even if that has gone again`() async throws {
        for (found, words) in [(200, "there is a file \"a\" already"), (404, "put or removed \"a\" meanwhile")] {
            let http = http([(404, ""), error(412, "PreconditionFailed"), (found, "")], entry)
            let error = await failure { try await put(http, .absent) }
            #expect(error?.status == .conflict && error?.message.contains(words) == true)
        }
    }

    @Test func `a file that is put but was not seen is completed without being sent again`() async throws {
        let http = http([(404, ""), (200, ""), (503, ""), (200, "")], entry)
        let s3 = try s3(http)
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: .absent))
        try await s3.uploadPart(Array("abc".utf8), of: upload.id, at: 0)
        let unseen = await failure { _ = try await s3.completeUpload(upload.id, size: 3, digest: nil) }
        #expect(unseen?.status == .unavailable)
        _ = try await s3.completeUpload(upload.id, size: 3, digest: nil)
        #expect(http.requests.map(\.method) == [.head, .put, .head, .head])
    }

    @Test func `a file of several parts is a multipart upload`() async throws {
        let http = http(
            [
                (200, "<InitiateMultipartUploadResult><UploadId>i&amp;d</UploadId></InitiateMultipartUploadResult>"),
                (200, ""), (503, ""), (200, ""), (404, ""), error(200, "InternalError"), (404, ""), (404, ""),
                (200, "<CompleteMultipartUploadResult/>"), (200, ""),
            ],
            entry
        )
        let s3 = try s3(http)
        let upload = try await s3.createUpload(FileUploadRequest("a", contentType: "a/b", condition: .absent))
        let part = [UInt8](repeating: 1, count: upload.partSize)
        let size = UInt64(upload.partSize)
        try await s3.uploadPart(part, of: upload.id, at: 0)
        #expect(await failure { try await s3.uploadPart([2], of: upload.id, at: size + 1) }?.status == .invalid)
        #expect(http.requests.isEmpty)
        #expect(await failure { try await s3.uploadPart([2], of: upload.id, at: size) }?.status == .unavailable)
        try await s3.uploadPart([2], of: upload.id, at: size)
        // No part may follow a short one.
        #expect(await failure { try await s3.uploadPart([3], of: upload.id, at: size + 1) }?.status == .invalid)
        #expect(
            await failure { _ = try await s3.completeUpload(upload.id, size: size, digest: nil) }?.status == .invalid
        )
        let busy = await failure { _ = try await s3.completeUpload(upload.id, size: size + 1, digest: nil) }
        #expect(busy?.status == .unavailable)
        _ = try await s3.completeUpload(upload.id, size: size + 1, digest: nil)
        #expect(http.requests.map(\.method) == [.post, .put, .put, .put, .head, .post, .head, .head, .post, .head])
        #expect(http.requests[0].headers["Content-Type"] == "a/b")
        #expect(http.requests[0].headers["x-amz-meta-upload"] == upload.id)
        #expect(http.requests[1].body == part && http.requests[3].body == [2])
        #expect(http.requests[3].url.description.hasSuffix("/b/a?partNumber=2&uploadId=i%26d"))
        #expect(http.requests[8].headers["If-None-Match"] == "*")
        #expect(http.requests[8].text.contains("<Part><PartNumber>2</PartNumber><ETag>&quot;1a&quot;</ETag></Part>"))
    }

    @Test(arguments: [
        (1, "ConditionalRequestConflict", true), (2, "ConditionalRequestConflict", false),
        (1, "OperationAborted", true), (2, "OperationAborted", true),
    ])
    func `a put that met another one is repeatable, and a multipart upload begins again if S3 asks for it`(
        parts: Int,
        code: String,
        isRepeatable: Bool
    ) async throws {
        let begun = "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>"
        let sent = parts == 1 ? [] : [(200, begun), (200, ""), (200, "")]
        let http = http(sent + [(404, ""), error(409, code), (404, "")], entry)
        let s3 = try s3(http)
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: .absent))
        let size = UInt64(parts - 1) * UInt64(upload.partSize) + 1
        if parts == 2 {
            try await s3.uploadPart([UInt8](repeating: 1, count: upload.partSize), of: upload.id, at: 0)
        }
        try await s3.uploadPart([1], of: upload.id, at: size - 1)
        let error = await failure { _ = try await s3.completeUpload(upload.id, size: size, digest: nil) }
        #expect(error?.status == .conflict && error?.isRetryable == isRepeatable)
        #expect(error?.message.contains(code) == true)
    }

    @Test(arguments: [FileCondition.any, .absent, .tag("1a")], [1, 2])
    func `a put to a bucket that is gone says so, and is not made again`(condition: FileCondition, parts: Int)
        async throws
    {
        let gone = error(404, "NoSuchBucket")
        let http = http(condition == .absent && parts == 1 ? [(404, ""), gone] : [gone])
        let s3 = try s3(http)
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: condition))
        let part = [UInt8](repeating: 1, count: upload.partSize)
        let error = await failure {
            for index in 0..<UInt64(parts) {
                try await s3.uploadPart(part, of: upload.id, at: index * UInt64(part.count))
            }
            _ = try await s3.completeUpload(upload.id, size: UInt64(parts * part.count), digest: nil)
        }
        #expect(error?.status == .unavailable && error?.isRetryable == false)
        #expect(error?.message.contains("NoSuchBucket: So it is; BucketName b") == true)
    }

    @Test func `a file that is gone is removed already`() async throws {
        for answer in [error(404, "NoSuchKey"), (404, ""), (204, "")] { try await s3(http([answer])).remove("a") }
        let missing = await failure { _ = try await s3(http([(404, "")])).get("a", from: 0, count: 9, tag: nil) }
        #expect(missing?.message == "there is no file \"a\"")
    }

    @Test func `the error for a status that S3 does not have names the request`() async throws {
        let error = await failure { try await s3(http([(202, "later")])).remove("a") }
        #expect(error?.status == .protocolViolation)
        #expect(error?.message == "S3 does not answer DELETE /b/a with HTTP 202: later")
    }

    @Test func `an upload that ends without a file is aborted at S3, also when the gate closes`() async throws {
        for closes in [false, true] {
            let http = http(
                [
                    (200, "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>"),
                    (200, ""), (200, ""), (204, ""),
                ],
                entry
            )
            let s3 = try s3(http)
            let upload = try await s3.createUpload(FileUploadRequest("a"))
            try await s3.uploadPart([UInt8](repeating: 1, count: upload.partSize), of: upload.id, at: 0)
            try await s3.uploadPart([1], of: upload.id, at: UInt64(upload.partSize))
            if closes { await s3.close() } else { try await s3.abortUpload(upload.id) }
            #expect(http.requests.last?.method == .delete)
            #expect(http.requests.last?.url.description.hasSuffix("/b/a?uploadId=id") == true)
            let error = await failure { _ = try await s3.completeUpload(upload.id, size: 1, digest: nil) }
            #expect(error?.status == .notFound)
        }
    }

    @Test func `an upload that is aborted while S3 begins it is aborted at S3, too`() async throws {
        let begun = "<InitiateMultipartUploadResult><UploadId>i</UploadId></InitiateMultipartUploadResult>"
        let script = http([(200, begun), (204, "")])
        let holding = HoldingHTTP(script: script, method: .post)
        let s3 = try s3(holding)
        let upload = try await s3.createUpload(FileUploadRequest("a"))
        try await s3.uploadPart([UInt8](repeating: 1, count: upload.partSize), of: upload.id, at: 0)
        let sending = Task { try await s3.uploadPart([1], of: upload.id, at: UInt64(upload.partSize)) }
        await holding.reached.wait()
        try await s3.abortUpload(upload.id)
        holding.released.send()
        #expect(await failure { try await sending.value }?.status == .notFound)
        #expect(script.requests.map(\.method) == [.post, .delete])
        #expect(script.requests.last?.url.value(of: "uploadId") == "i")
    }

    @Test func `an upload that is aborted while a part is on its way is aborted once more after it`() async throws {
        let begun = "<InitiateMultipartUploadResult><UploadId>i</UploadId></InitiateMultipartUploadResult>"
        let script = http([(200, begun), (204, ""), (200, ""), (204, "")], entry)
        let holding = HoldingHTTP(script: script, method: .put)
        let s3 = try s3(holding)
        let upload = try await s3.createUpload(FileUploadRequest("a"))
        try await s3.uploadPart([UInt8](repeating: 1, count: upload.partSize), of: upload.id, at: 0)
        let sending = Task { try await s3.uploadPart([1], of: upload.id, at: UInt64(upload.partSize)) }
        await holding.reached.wait()
        try await s3.abortUpload(upload.id)
        holding.released.send()
        #expect(await failure { try await sending.value }?.status == .notFound)
        #expect(script.requests.map(\.method) == [.post, .delete, .put, .delete])
    }

    @Test func `an upload of one part that is aborted while it completes puts nothing in place`() async throws {
        let script = http([error(404, "NoSuchKey")])
        let holding = HoldingHTTP(script: script, method: .head)
        let s3 = try s3(holding)
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: .absent))
        try await s3.uploadPart([1], of: upload.id, at: 0)
        let completing = Task { _ = try await s3.completeUpload(upload.id, size: 1, digest: nil) }
        await holding.reached.wait()
        try await s3.abortUpload(upload.id)
        holding.released.send()
        #expect(await failure { try await completing.value }?.status == .notFound)
        #expect(script.requests.map(\.method) == [.head])
    }

    @Test func `a condition on the tag of a file that is gone is a conflict`() async throws {
        let s3 = try s3(http([error(404, "NoSuchKey")]))
        let upload = try await s3.createUpload(FileUploadRequest("a", condition: .tag("1a")))
        let error = await failure { _ = try await s3.completeUpload(upload.id, size: 0, digest: nil) }
        #expect(error?.status == .conflict)
    }

    @Test func `no foreign text is sent as a placeholder of a secret`() async throws {
        let http = ScriptedHTTP()
        let s3 = try s3(http)
        for request in [
            FileUploadRequest("a", contentType: "a/{{secret:secretKey}}"), FileUploadRequest("a", contentType: "a/b}}"),
            FileUploadRequest("a", contentType: "a/\u{600}{{secret:secretKey}\u{301}}"),
            FileUploadRequest("a", condition: .tag("{{secret:secretKey}}")),
            FileUploadRequest("a", condition: .tag("")),
        ] {
            #expect(await failure { _ = try await s3.createUpload(request) }?.status == .invalid)
        }
        #expect(await failure { _ = try await s3.get("a", from: 0, count: 1, tag: "a\r\nb") }?.status == .invalid)
        #expect(http.requests.isEmpty)
        let listing = self.http([list([])])
        _ = try await self.s3(listing).list(prefix: "{{secret:secretKey}}", after: "", limit: 9)
        #expect(!listing.requests[0].url.description.contains("{"))
    }

    @Test func `an upload that cannot be completed makes room for another one`() async throws {
        let s3 = try s3(http([(200, "")], entry))
        let failed = try await s3.createUpload(FileUploadRequest("a", condition: .absent))
        try await s3.uploadPart([1, 2, 3], of: failed.id, at: 0)
        #expect(await failure { _ = try await s3.completeUpload(failed.id, size: 3, digest: nil) }?.status == .conflict)
        for _ in 0..<32 { _ = try await s3.createUpload(FileUploadRequest("b")) }
        #expect(await failure { try await s3.uploadPart([1, 2, 3], of: failed.id, at: 0) }?.status == .notFound)
        #expect(await failure { _ = try await s3.createUpload(FileUploadRequest("b")) }?.status == .rateLimited)
    }

    @Test func `an upload whose completion may succeed later keeps its place`() async throws {
        let s3 = try s3(http([(503, "")]))
        let failed = try await s3.createUpload(FileUploadRequest("a"))
        try await s3.uploadPart([1, 2, 3], of: failed.id, at: 0)
        let error = await failure { _ = try await s3.completeUpload(failed.id, size: 3, digest: nil) }
        #expect(error?.isRetryable == true)
        for _ in 0..<31 { _ = try await s3.createUpload(FileUploadRequest("b")) }
        #expect(await failure { _ = try await s3.createUpload(FileUploadRequest("b")) }?.status == .rateLimited)
    }

    @Test func `too many uploads at once are refused`() async throws {
        let s3 = try s3(ScriptedHTTP())
        for _ in 0..<32 { _ = try await s3.createUpload(FileUploadRequest("a")) }
        #expect(await failure { _ = try await s3.createUpload(FileUploadRequest("a")) }?.status == .rateLimited)
    }
}

/// What becomes of the first put of a file.
enum PutLoss: Sendable {
    /// It does not arrive.
    case request
    /// Its answer does not arrive.
    case answer
    /// Its answer is in no words that the adapter knows.
    case sense
}

/// A bucket with one file that ignores conditions, and loses the first put of it, or the answer.
private final class ForgetfulBucket: HTTPService {
    private struct State {
        /// The header fields of the file; nil if there is none.
        var file: HTTPFields?
        /// The metadata of a multipart upload.
        var begun: HTTPFields?
        var puts = 0
    }

    private let loss: PutLoss
    private let state = Mutex(State())

    init(_ loss: PutLoss) {
        self.loss = loss
    }

    /// The number of requests to put the file, or to assemble it.
    var puts: Int { state.withLock { $0.puts } }

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        try state.withLock { state throws(PluginError) in
            let (url, tag) = (request.url.description, "\"1a\"")
            if request.method == .head {
                return HTTPResponse(status: state.file == nil ? 404 : 200, headers: state.file ?? [:])
            }
            var kept = HTTPFields(request.headers.filter { $0.name.hasPrefix("x-amz-meta-") })
            if url.contains("?uploads") {
                state.begun = kept
                return answer("<InitiateMultipartUploadResult><UploadId>i</UploadId></InitiateMultipartUploadResult>")
            }
            if url.contains("partNumber") { return HTTPResponse(status: 200, headers: ["ETag": tag]) }
            state.puts += 1
            if request.method == .post {
                guard let begun = state.begun, state.file == nil else {
                    return answer("<Error><Code>NoSuchUpload</Code></Error>", status: 404)
                }
                kept = begun
            }
            for (name, value) in [
                ("Content-Length", "1"), ("Last-Modified", "Sat, 31 Jan 2026 09:30:00 GMT"), ("ETag", tag),
            ] { kept[name] = value }
            if loss != .request || state.puts > 1 { state.file = kept }
            guard state.puts > 1 else {
                guard loss == .sense else { throw PluginError(.timedOut, "too late") }
                return answer("<CompleteMultipartUploadResponse/>")
            }
            var answer = answer("<CompleteMultipartUploadResult/>")
            answer.headers["ETag"] = tag
            return answer
        }
    }

    private func answer(_ document: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, body: Array(document.utf8))
    }
}
