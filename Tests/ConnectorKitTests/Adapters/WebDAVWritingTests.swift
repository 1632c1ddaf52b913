// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import webdav

/// The adapter of WebDAV servers: writing.
@Suite struct WebDAVWritingTests: WebDAVSuite {
    @Test func `parts come in order, are bounded, and the last may come again`() async throws {
        let webdav = try webdav(ScriptedHTTP())
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        let part = [UInt8](repeating: 1, count: upload.partSize)
        let size = UInt64(upload.partSize)
        #expect(await failure { try await webdav.uploadPart(part, of: upload.id, at: size) }?.status == .invalid)
        for _ in 1...2 { try await webdav.uploadPart(part, of: upload.id, at: 0) }
        #expect(await failure { try await webdav.uploadPart([1], of: upload.id, at: 1) }?.status == .invalid)
        for index in 1..<UInt64(8) { try await webdav.uploadPart(part, of: upload.id, at: index * size) }
        let short = await failure { _ = try await webdav.completeUpload(upload.id, size: 1, digest: nil) }
        #expect(short?.status == .invalid)
        try await webdav.abortUpload(upload.id)
        #expect(await failure { try await webdav.uploadPart(part, of: upload.id, at: 0) }?.status == .notFound)
    }

    @Test func `too many uploads at once are refused, and one that ends makes room`() async throws {
        let webdav = try webdav(ScriptedHTTP())
        var ids: [String] = []
        for number in 0..<256 { ids.append(try await webdav.createUpload(FileUploadRequest("\(number)")).id) }
        let request = FileUploadRequest("more")
        #expect(await failure { _ = try await webdav.createUpload(request) }?.status == .rateLimited)
        try await webdav.abortUpload(ids[0])
        _ = try await webdav.createUpload(request)
    }

    /// Sends parts of 1 MiB, each of bytes with its number.
    private func send(_ numbers: ClosedRange<UInt8>, of upload: FileUpload, to webdav: WebDAV) async throws {
        for number in numbers {
            let part = [UInt8](repeating: number, count: upload.partSize)
            try await webdav.uploadPart(part, of: upload.id, at: UInt64(number) << 20)
        }
    }

    @Test func `a large file is one request that lasts as long as the upload, and the last part may come again`()
        async throws
    {
        let http = http([(405, ""), (404, ""), (507, "full"), (404, "")])
        let webdav = try webdav(http)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await send(0...8, of: upload, to: webdav)
        #expect(http.requests.isEmpty, "so much is kept in memory")
        try await send(9...19, of: upload, to: webdav)
        try await send(19...19, of: upload, to: webdav)
        #expect(http.beginning.map(\.method) == [.put] && http.requests.map(\.method) == [.mkcol])
        try await webdav.uploadPart([99], of: upload.id, at: 20 << 20)
        let error = await failure { _ = try await webdav.completeUpload(upload.id, size: 20 << 20 + 1, digest: nil) }
        #expect(error?.status == .unavailable && error?.isRetryable == false)
        #expect(http.requests.map(\.method) == [.mkcol, .propfind, .put, .delete] && http.paths[2] == http.paths[3])
        let again = await failure { _ = try await webdav.completeUpload(upload.id, size: 20 << 20 + 1, digest: nil) }
        #expect(again?.status == .notFound, "its content is gone")
        let body = http.requests[2].body
        #expect(body.count == 20 << 20 + 1 && body.last == 99)
        for number: UInt8 in 0..<20 {
            let start = Int(number) << 20
            #expect(body[start] == number && body[start + (1 << 20) - 1] == number)
        }
    }

    @Test func `a file that never ends is refused by the server, once it is full, and leaves nothing behind`()
        async throws
    {
        let answers = [(405, ""), (507, "full"), (204, "")].map { status, text in
            ScriptedHTTP.Answer.response(HTTPResponse(status: status, body: Array(text.utf8)))
        }
        let http = ScriptedHTTP(answers, bodyLimit: 12 << 20)
        let webdav = try webdav(http)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        let error = await failure {
            for number: UInt8 in 0...200 { try await send(number...number, of: upload, to: webdav) }
        }
        #expect(error?.status == .unavailable && error?.isRetryable == false)
        #expect(error?.message.contains("no space left") == true)
        try await webdav.abortUpload(upload.id)
        #expect(http.requests.map(\.method) == [.mkcol, .put, .delete] && http.paths[1] == http.paths[2])
    }

    @Test func `a large upload whose request broke off says why, and when it goes on, that it must begin again`()
        async throws
    {
        let answers = [(405, ""), (503, "busy")].map { status, text in
            ScriptedHTTP.Answer.response(HTTPResponse(status: status, body: Array(text.utf8)))
        }
        let webdav = try webdav(ScriptedHTTP(answers, bodyLimit: 12 << 20))
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        var number: UInt8 = 0
        let error = await failure {
            while number < 200 {
                try await send(number...number, of: upload, to: webdav)
                number += 1
            }
        }
        #expect(error?.status == .unavailable && error?.isRetryable == true)
        let again = await failure { try await send(number...number, of: upload, to: webdav) }
        #expect(again?.status == .notFound && again?.message.contains("broke off") == true)
    }

    @Test func `a large upload that is aborted, or whose gate closes, ends its request and removes what was put`()
        async throws
    {
        for isClosed in [false, true] {
            let http = http([(405, ""), (204, ""), (204, "")])
            let webdav = try webdav(http)
            let upload = try await webdav.createUpload(FileUploadRequest("a"))
            try await send(0...10, of: upload, to: webdav)
            if isClosed { await webdav.close() } else { try await webdav.abortUpload(upload.id) }
            #expect(http.beginning.count == 1)
            #expect(http.requests.map(\.method) == [.mkcol, .delete], "the put did not end as if it were whole")
        }
    }

    /// A script that tells why a body in parts broke off.
    private struct BreakingHTTP: HTTPService {
        let script: NamingHTTP
        let broken = OneShot<PluginError>()

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            try await script.send(request)
        }

        func stream(
            _ request: HTTPRequest,
            body: HTTPUpload?,
            silence: Duration?
        ) async throws(PluginError) -> HTTPStream {
            do throws(PluginError) {
                return try await script.stream(request, body: body, silence: silence)
            } catch {
                if body != nil { broken.send(error) }
                throw error
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a large upload whose condition is not met ends its request, which nobody could end later`() async throws {
        let script = http([(405, ""), there(), (204, "")])
        let breaking = BreakingHTTP(script: NamingHTTP(script: script))
        let webdav = try webdav(breaking)
        let upload = try await webdav.createUpload(FileUploadRequest("a", condition: .absent))
        try await send(0...10, of: upload, to: webdav)
        let error = await failure { _ = try await webdav.completeUpload(upload.id, size: 11 << 20, digest: nil) }
        #expect(error?.status == .conflict)
        #expect(await breaking.broken.wait().status == .cancelled)
        #expect(script.beginning.count == 1)
        #expect(script.requests.map(\.method) == [.mkcol, .propfind, .delete])
    }

    @Test func `an upload that is aborted while its request is prepared begins none`() async throws {
        let script = http([(405, "")])
        let holding = HoldingHTTP(script: script, method: .mkcol)
        let webdav = try webdav(holding)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        let sending = Task { try await send(0...9, of: upload, to: webdav) }
        await holding.reached.wait()
        try await webdav.abortUpload(upload.id)
        holding.released.send()
        #expect(await failure { try await sending.value }?.status == .notFound)
        #expect(script.beginning.isEmpty && script.requests.map(\.method) == [.mkcol])
    }

    @Test func `an upload that is aborted while it completes puts nothing in place`() async throws {
        let script = http([(404, ""), (204, "")])
        let holding = HoldingHTTP(script: script, method: .propfind)
        let webdav = try webdav(holding)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await webdav.uploadPart([1], of: upload.id, at: 0)
        let completing = Task { try await webdav.completeUpload(upload.id, size: 1, digest: nil) }
        await holding.reached.wait()
        try await webdav.abortUpload(upload.id)
        holding.released.send()
        #expect(await failure { _ = try await completing.value }?.status == .notFound)
        #expect(script.requests.map(\.method) == [.propfind, .delete])
    }

    @Test func `a small upload that is aborted while its content is on its way is not moved into place`() async throws {
        let script = http([(404, ""), (201, ""), there(), (207, multistatus("")), (204, "")])
        let holding = HoldingHTTP(script: NamingHTTP(script: script), method: .put)
        let webdav = try webdav(holding)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await webdav.uploadPart([1, 2, 3], of: upload.id, at: 0)
        let completing = Task { try await webdav.completeUpload(upload.id, size: 3, digest: nil) }
        await holding.reached.wait()
        try await webdav.abortUpload(upload.id)
        holding.released.send()
        #expect(await failure { _ = try await completing.value }?.status == .notFound)
        #expect(script.requests.map(\.method) == [.propfind, .put, .propfind, .proppatch, .delete])
    }

    @Test func `a large file that arrives with another size is not moved into place`() async throws {
        let http = http([(405, ""), (404, ""), (201, ""), there(0), (204, "")])
        let webdav = try webdav(NamingHTTP(script: http))
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await send(0...9, of: upload, to: webdav)
        let error = await failure { _ = try await webdav.completeUpload(upload.id, size: 10 << 20, digest: nil) }
        #expect(error?.status == .protocolViolation && error?.isRetryable == false)
        #expect(error?.message.contains("has 0 of the file's 10485760 bytes") == true)
        #expect(error?.message.contains("FastCGI") == true)
        #expect(http.requests.map(\.method) == [.mkcol, .propfind, .put, .propfind, .delete])
        #expect(Set(http.paths[2...]).count == 1, "exactly what was put is removed")
    }

    @Test func `a copy must have the size of its source, if the server states one`() async throws {
        let copied = [there(), (404, ""), (201, ""), there()]
        let short = http(copied + [there(2), (204, "")])
        let error = await failure { _ = try await webdav(NamingHTTP(script: short)).copy("a", to: "b") }
        #expect(error?.status == .protocolViolation && error?.isRetryable == false)
        #expect(short.requests.map(\.method) == [.propfind, .propfind, .copy, .propfind, .propfind, .delete])
        let unknown = http(copied + [there(nil), (207, multistatus("")), (404, ""), (201, ""), there()])
        #expect(try await webdav(NamingHTTP(script: unknown)).copy("a", to: "b").size == 3)
    }

    /// Puts three bytes.
    private func put(_ request: FileUploadRequest, _ http: ScriptedHTTP) async throws -> FileEntry {
        let webdav = try webdav(NamingHTTP(script: http))
        let upload = try await webdav.createUpload(request)
        try await webdav.uploadPart([1, 2, 3], of: upload.id, at: 0)
        return try await webdav.completeUpload(upload.id, size: 3, digest: nil)
    }

    /// A server that answers a change of properties without a document, as lighttpd does.
    private struct SilentHTTP: HTTPService {
        let server: SimulatedHTTP
        let status: Int

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            let response = try await server.send(request)
            return request.method == .proppatch && response.status == 207 ? HTTPResponse(status: status) : response
        }
    }

    @Test(arguments: [200, 204])
    func `a server may store the digest without a document that says so`(status: Int) async throws {
        let exercise = try #require(AdapterExercise.all.first { $0.vendor == "webdav" })
        let (plugin, http) = try exercise.adapter(between: { SilentHTTP(server: $0, status: status) })
        let webdav = try #require(plugin as? WebDAV)
        http.watch(falsifying: nil)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await webdav.uploadPart([1, 2, 3], of: upload.id, at: 0)
        let digest = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
        #expect(try await webdav.completeUpload(upload.id, size: 3, digest: digest).digest == digest)
        #expect(try await webdav.head("a").digest == digest)
        #expect(http.questions.count { $0.method == .proppatch } == 1)
    }

    @Test func `the error for a status that WebDAV does not have names the request`() async throws {
        let http = http([(404, ""), (202, "later"), (204, "")])
        let error = await failure { _ = try await put(FileUploadRequest("a"), http) }
        #expect(error?.status == .protocolViolation)
        #expect(error?.message.contains("PUT \(http.paths[1]) with HTTP 202: later") == true)
    }

    /// The moves that a server received.
    private func moves(_ http: ScriptedHTTP) -> [HTTPRequest] {
        http.requests.filter { $0.method == .move }
    }

    @Test func `a server that refuses every tag in If is asked without one, if the tag is still current`() async throws
    {
        let refused = [there(), (201, ""), there(), (207, multistatus("")), there(), (412, "")]
        let request = FileUploadRequest("a", condition: .tag("1"))
        let without = http(refused + [there(), (204, ""), there(tag: "2")])
        #expect(try await put(request, without).tag == "2")
        let conditions = [#"<http://vendor.example/files/a> (["1"])"#, nil]
        #expect(moves(without).map { $0.headers["If"] } == conditions)
        #expect(moves(without).allSatisfy { $0.headers["Overwrite"] == "T" })

        let changed = http(refused + [there(tag: "2"), (204, "")])
        #expect(await failure { _ = try await put(request, changed) }?.status == .conflict)
        #expect(moves(changed).count == 1 && changed.requests.last?.method == .delete)

        let again = http(refused + [there(), (412, ""), (204, "")])
        #expect(await failure { _ = try await put(request, again) }?.status == .conflict)
        #expect(moves(again).count == 2 && again.requests.last?.method == .delete)

        let absent = http([(404, ""), (201, ""), there(), (207, multistatus("")), (404, ""), (412, ""), (204, "")])
        let error = await failure { _ = try await put(FileUploadRequest("a", condition: .absent), absent) }
        #expect(error?.status == .conflict && moves(absent).count == 1)
    }

    @Test(arguments: [403, 404, 409, 500])
    func `a missing collection is made, whatever status the server reports it with`(status: Int) async throws {
        let answers = [
            (404, ""), (status, ""), (201, ""), (201, ""), there(), (207, multistatus("")), (404, ""), (status, ""),
            (201, ""), (201, ""), there(),
        ]
        let http = http(answers)
        #expect(try await put(FileUploadRequest("b/a"), http).path == "b/a")
        let methods: [HTTPRequest.Method] = [
            .propfind, .put, .mkcol, .put, .propfind, .proppatch, .propfind, .move, .mkcol, .move, .propfind,
        ]
        #expect(http.requests.map(\.method) == methods)
        #expect(http.paths[2] == "/files/.connector-uploads/" && http.paths[8] == "/files/b/")
    }

    @Test func `a move that is refused is denied, whether a collection may be missing or not`() async throws {
        let moving = [(404, ""), (201, ""), there(), (207, multistatus("")), (404, ""), (403, "no")]
        let below = http(moving + [(403, "none"), (404, ""), (204, "")])
        let error = await failure { _ = try await put(FileUploadRequest("b/a"), below) }
        #expect(error?.status == .denied && error?.message.contains("none") == true)
        #expect(below.requests.map(\.method).suffix(4) == [.move, .mkcol, .propfind, .delete])
        let root = http(moving + [(204, "")])
        #expect(await failure { _ = try await put(FileUploadRequest("a"), root) }?.status == .denied)
        #expect(root.requests.map(\.method).suffix(2) == [.move, .delete])
    }

    @Test(arguments: [403, 409, 423, 501])
    func `a collection that is there is not made again, whatever status the server refuses it with`(status: Int)
        async throws
    {
        let there = found("{path}", collection)
        let moving = [(404, ""), (201, ""), self.there(), (207, multistatus("")), (404, ""), (403, "no")]
        let http = http(moving + [(status, "it exists"), there, (403, "no"), there, (204, "")])
        let error = await failure { _ = try await put(FileUploadRequest("b/a"), http) }
        #expect(error?.status == .denied && error?.message.contains("no") == true)
        let methods: [HTTPRequest.Method] = [.move, .mkcol, .propfind, .move, .propfind, .delete]
        #expect(http.requests.map(\.method).suffix(6) == methods)
    }

    @Test func `a move replaces only what was found before it`() async throws {
        let prepared = [(404, ""), (201, ""), there(), (207, multistatus(""))]
        func overwrites(_ http: ScriptedHTTP) -> [String?] { moves(http).map { $0.headers["Overwrite"] } }
        let new = http(prepared + [(404, ""), (201, ""), there()])
        #expect(try await put(FileUploadRequest("a"), new).tag == "1" && overwrites(new) == ["F"])
        let old = http(prepared + [there(), (204, ""), there(tag: "2")])
        #expect(try await put(FileUploadRequest("a"), old).tag == "2" && overwrites(old) == ["T"])
        // Another program has put a file there meanwhile.
        let raced = http(prepared + [(404, ""), (412, ""), there(), (204, ""), there(tag: "2")])
        #expect(try await put(FileUploadRequest("a"), raced).tag == "2" && overwrites(raced) == ["F", "T"])
        // The server takes the path for another one.
        let misread = http(prepared + [(404, ""), (412, ""), (404, ""), (204, "")])
        let error = await failure { _ = try await put(FileUploadRequest("a;b"), misread) }
        #expect(error?.status == .conflict && error?.message.contains("shows nothing there") == true)
        #expect(overwrites(misread) == ["F"] && misread.requests.last?.method == .delete)
    }

    @Test(arguments: [403, 409, 415])
    func `a path below a file is a conflict, whatever status the server refuses the move or a collection with`(
        status: Int
    ) async throws {
        let prepared = [(404, ""), (201, ""), there(), (207, multistatus("")), (404, "")]
        // The server refuses the move itself, or to make the collection y.
        let move = status == 415 ? [(415, "")] : [(status, ""), (405, ""), (status, "")]
        let collection = [(404, ""), (405, ""), (status, ""), (404, "")]
        for (path, refusal) in [("x/y", move), ("x/y/z", collection)] {
            let http = http(prepared + refusal + [there(), (204, "")])
            let error = await failure { _ = try await put(FileUploadRequest(path), http) }
            #expect(error?.status == .conflict && error?.detail == Int32(status))
            #expect(error?.message.contains("there is a file where \"x/y\" needs a collection") == true)
            #expect(http.requests.suffix(2).map(\.method) == [.propfind, .delete])
            #expect(http.paths.dropLast().last == "/files/x")
        }
    }

    @Test func `a locked file is a conflict that says so and names it, and passes`() async throws {
        let prepared = [(404, ""), (201, ""), there(), (207, multistatus("")), there()]
        let put = http(prepared + [(423, ""), there()])
        let removal = http([found("/files/a"), (423, "")])
        for error in [
            await failure { _ = try await self.put(FileUploadRequest("a"), put) },
            await failure { try await webdav(removal).remove("a") },
        ] {
            #expect(error?.status == .conflict && error?.isRetryable == true && error?.detail == 423)
            #expect(error?.message.contains("; /files/a or a collection above it is locked") == true)
        }
    }

    @Test func `a path below a file is a conflict, also for a server that takes every such request for malformed`()
        async throws
    {
        let below = [(400, "extraneous path components"), there()]
        let http = http(
            below + [(201, ""), there(), (207, multistatus(""))] + below + [(400, ""), there(), (204, "")]
        )
        let error = await failure { _ = try await put(FileUploadRequest("x/y"), http) }
        #expect(error?.status == .conflict && error?.message.contains("there is a file where") == true)
        let methods: [HTTPRequest.Method] = [
            .propfind, .propfind, .put, .propfind, .proppatch, .propfind, .propfind, .move, .propfind, .delete,
        ]
        #expect(http.requests.map(\.method) == methods && http.paths[8] == "/files/x")
    }

    @Test func `a server that fails is asked once more only if a collection may be missing`()
        async throws
    {
        let http = http([(404, ""), (500, "broken"), (405, ""), (500, "broken"), (404, "")])
        let error = await failure { _ = try await put(FileUploadRequest("a"), http) }
        #expect(error?.status == .unavailable && error?.message.contains("broken") == true)
        #expect(http.requests.map(\.method) == [.propfind, .put, .mkcol, .put, .delete])
        let move = self.http([
            (404, ""), (201, ""), there(), (207, multistatus("")), (404, ""), (500, "broken"), (204, ""),
        ])
        #expect(await failure { _ = try await put(FileUploadRequest("a"), move) }?.status == .unavailable)
        #expect(moves(move).count == 1)
    }

    @Test(arguments: [404, 409])
    func `a put to a collection that is gone says so, whether the file is small or large`(status: Int) async throws {
        // The server refuses the content, the collection for it, and the content again; there is nothing above it.
        let small = http([(404, ""), (status, ""), (status, ""), (404, ""), (404, ""), (404, ""), (404, "")])
        let large = http([(status, ""), (404, ""), (404, ""), (404, "")])
        let webdav = try webdav(large)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        for error in [
            await failure { _ = try await put(FileUploadRequest("a"), small) },
            await failure { try await send(0...9, of: upload, to: webdav) },
        ] {
            #expect(error?.status == .unavailable && error?.isRetryable == true)
            #expect(error?.message.contains("the collection http://vendor.example/files is gone") == true)
        }
        let tagged = http([(404, ""), (404, "")])
        let error = await failure { _ = try await put(FileUploadRequest("a", condition: .tag("1")), tagged) }
        #expect(error?.status == .unavailable && tagged.paths.prefix(2) == ["/files/a", "/files/"])
    }

    @Test(arguments: [404, 410])
    func `a put that the server calls missing although its collection is there has failed, and is not begun again`(
        status: Int
    ) async throws {
        let small = http([
            (404, ""), (404, "no"), (201, ""), (status, "no"), found("/files/", collection), (404, ""),
        ])
        let large = http([(status, "no"), (404, ""), found("/files/", collection)])
        let webdav = try webdav(large)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        for error in [
            await failure { _ = try await put(FileUploadRequest("a"), small) },
            await failure { try await send(0...9, of: upload, to: webdav) },
        ] {
            #expect(error?.status == .failed && error?.isRetryable == false && error?.detail == Int32(status))
            #expect(error?.message.contains("the collection http://vendor.example/files is there") == true)
        }
        #expect(small.requests.map(\.method) == [.propfind, .put, .mkcol, .put, .propfind, .delete])
    }

    @Test func `a put that fails leaves nothing behind, even if the call has run out of time`() async throws {
        let http = http([(404, ""), (507, "full"), (404, "")])
        let webdav = try webdav(http)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await webdav.uploadPart([1, 2, 3], of: upload.id, at: 0)
        let error = await failure {
            try await Deadline.apply(7) { _ = try await webdav.completeUpload(upload.id, size: 3, digest: nil) }
        }
        #expect(error?.status == .unavailable && error?.isRetryable == false)
        #expect(http.requests.map(\.method) == [.propfind, .put, .delete] && http.deadlines == [7, 7, .max])
        #expect(http.paths[1] == http.paths[2] && http.paths[1].hasPrefix("/files/.connector-uploads/"))
    }

    @Test func `no foreign text is sent as a placeholder, or reaches the adapter's own files`() async throws {
        let http = ScriptedHTTP()
        let webdav = try webdav(http)
        for request in [
            FileUploadRequest("a", contentType: "a/{{secret:password}}"), FileUploadRequest(".connector-uploads/a"),
            FileUploadRequest("a", condition: .tag("{{secret:password}}")),
            FileUploadRequest("a", condition: .tag("\"")),
        ] {
            #expect(await failure { _ = try await webdav.createUpload(request) }?.status == .invalid)
        }
        #expect(await failure { _ = try await webdav.head(".connector-uploads/a") }?.status == .invalid)
        #expect(await failure { try await webdav.remove(".connector-uploads/a") }?.status == .invalid)
        #expect(await failure { _ = try await webdav.get("a", from: 0, count: 1, tag: "a\r\nb") }?.status == .invalid)
        #expect(http.requests.isEmpty)
    }

    @Test func `neither a put nor a copy replaces a collection`() async throws {
        let http = http([found("/files/a/", collection), (404, "")])
        let webdav = try webdav(http)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        let error = await failure { _ = try await webdav.completeUpload(upload.id, size: 0, digest: nil) }
        #expect(error?.status == .conflict)
        #expect(http.requests.map(\.method) == [.propfind, .delete])
    }
}
