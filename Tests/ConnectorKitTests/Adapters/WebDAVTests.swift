// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import webdav

/// A script in whose answers `{path}` stands for the path that was asked for: uploads make up names.
private struct NamingHTTP: HTTPService {
    let script: ScriptedHTTP

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        try await stream(request, silence: nil).response(limit: 1 << 20)
    }

    func stream(_ request: HTTPRequest, body: HTTPUpload?, silence: Duration?) async throws(PluginError) -> HTTPStream {
        var response = try await script.stream(request, body: body, silence: silence).response(limit: 1 << 20)
        let path = String(request.url.description.dropFirst(request.url.origin.count))
        response.body = Array(String(decoding: response.body, as: UTF8.self).replacing("{path}", with: path).utf8)
        return HTTPStream(response)
    }
}

/// The adapter of WebDAV servers.
@Suite struct WebDAVTests {
    private func webdav(_ http: some HTTPService, _ fields: JSONObject = [:]) throws -> WebDAV {
        var all: JSONObject = [
            "endpoint": "http://vendor.example/files/", "username": "ada", "password": "{{secret:password}}",
        ]
        for member in fields.members { all[member.name] = member.value }
        return try WebDAV(configuration: PluginConfiguration(all), host: Host(http: http, clock: StoppedClock()))
    }

    private func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: PluginError.self) { try await body() }
    }

    private func found(_ path: String, _ properties: String? = nil) -> (Int, String) {
        let usual = """
            <d:resourcetype/><d:getcontentlength>3</d:getcontentlength><d:getetag>"1"</d:getetag>
            <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
            """
        return (207, multistatus(response(path, properties ?? usual)))
    }

    /// An answer that the file that was asked for is there; with ``NamingHTTP``.
    private func there(_ size: Int? = 3, tag: String = "1") -> (Int, String) {
        let length = size.map { "<d:getcontentlength>\($0)</d:getcontentlength>" } ?? ""
        return found(
            "{path}",
            """
            <d:resourcetype/>\(length)<d:getetag>"\(tag)"</d:getetag>
            <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
            """
        )
    }

    private func response(_ path: String, _ properties: String) -> String {
        """
        <d:response><d:href>\(path)</d:href><d:propstat><d:prop>\(properties)</d:prop>
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
        """
    }

    private func multistatus(_ responses: String) -> String {
        #"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">\#(responses)</d:multistatus>"#
    }

    private func http(_ answers: [(Int, String)], _ headers: HTTPFields = [:]) -> ScriptedHTTP {
        ScriptedHTTP(
            answers.map { .response(HTTPResponse(status: $0.0, headers: headers, body: Array($0.1.utf8))) }
        )
    }

    private let collection = "<d:resourcetype><d:collection/></d:resourcetype>"

    // MARK: Opening

    @Test func `credentials are proved only where a stranger is refused`() async throws {
        for (status, kind) in [(401, Evidence.Kind.authenticated), (403, .authenticated), (207, .reachable)] {
            let http = http([found("/files/", collection), (status, multistatus(""))])
            #expect(try await webdav(http).open().map(\.kind) == [kind])
            #expect(http.requests.map(\.method) == [.propfind, .propfind])
            #expect(http.requests.map(\.url.description) == Array(repeating: "http://vendor.example/files/", count: 2))
            #expect(http.requests[0].headers["Authorization"] == "Basic {{base64:ada:{{secret:password}}}}")
            #expect(http.requests[1].headers["Authorization"] == nil)
        }
        let anybody = try WebDAV(
            configuration: PluginConfiguration(["endpoint": "http://vendor.example/files"]),
            host: .scripted(http([found("/files/", collection)]))
        )
        #expect(try await anybody.open().map(\.kind) == [.reachable])
    }

    @Test func `a stranger who gets no answer, or another one, fails no opening`() async throws {
        let shown = ScriptedHTTP.Answer.response(
            HTTPResponse(status: 207, body: Array(found("/files/", collection).1.utf8))
        )
        let late = ScriptedHTTP.Answer.failure(PluginError(.timedOut, "too late"))
        for answer in [late, .response(HTTPResponse(status: 503)), .response(HTTPResponse(status: 404))] {
            let http = ScriptedHTTP([shown, answer])
            #expect(try await webdav(http).open() == [.reachable("the server shows the collection")])
            #expect(http.requests.count == 2)
        }
    }

    @Test(arguments: [
        (401, PluginStatus.unauthorized), (403, .denied), (404, .notFound), (405, .unsupported), (503, .unavailable),
    ])
    func `a collection that cannot be read says why`(status: Int, expected: PluginStatus) async throws {
        let error = await failure { _ = try await webdav(http([(status, "<html>no</html>")])).open() }
        #expect(error?.status == expected)
        #expect(error?.message.contains("{{") == false && error?.message.contains("web page") == false)
    }

    @Test func `a file is no collection, and an endpoint has no query`() async throws {
        #expect(await failure { _ = try await webdav(http([found("/files/")])).open() }?.status == .notFound)
        #expect(throws: PluginError.self) { try webdav(ScriptedHTTP(), ["endpoint": "http://vendor.example/?a=b"]) }
    }

    @Test func `a server asks for patience`() async throws {
        let error = await failure {
            _ = try await webdav(http([(503, "busy")], ["Retry-After": "7"])).head("a")
        }
        #expect(error?.retryAfter == .seconds(7) && error?.isRetryable == true)
        #expect(error?.message.contains("busy") == true)
    }

    // MARK: Reading

    @Test(arguments: [
        "/files/a%20b", "http://vendor.example/files/a%20b", "/files/a b", "/files//a%20b", "/%66iles/a%20b/",
        "\n /files/a%20b\n",
    ])
    func `a server writes paths as it likes`(href: String) async throws {
        let entry = try await webdav(http([found(href)])).head("a b")
        #expect(entry.path == "a b" && entry.size == 3 && entry.tag == "1" && entry.digest == nil)
    }

    @Test func `the stamp counts as long as the content is the same`() async throws {
        let digest = String(repeating: "ab", count: 32)
        for (tag, known) in [("1", true), ("2", false)] {
            let stamp = #"{"tag":"1","contentType":"text/x-a","digest":"\#(digest)"}"#
            let properties = """
                <d:resourcetype/><d:getcontentlength>3</d:getcontentlength><d:getetag>\(tag)</d:getetag>
                <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
                <d:getcontenttype>text/plain</d:getcontenttype>
                <file xmlns="\(WebDAVStamp.namespace)">\(XMLElement.escaped(stamp))</file>
                """
            let entry = try await webdav(http([found("/files/a", properties)])).head("a")
            #expect(entry.contentType == (known ? "text/x-a" : "text/plain"))
            #expect(entry.digest == (known ? digest : nil))
        }
    }

    @Test(arguments: [
        "<d:multistatus", "", "{}", #"<multistatus xmlns="urn:x"/>"#, #"<multistatus xmlns="DAV:"/>"#,
        #"<!DOCTYPE a [<!ENTITY b "b">]><multistatus xmlns="DAV:"/>"#,
    ])
    func `an answer that is none, or of something else, is refused`(body: String) async throws {
        let error = await failure { _ = try await webdav(http([(207, body)])).head("a") }
        #expect(error?.status == .protocolViolation && error?.isRetryable == true)
    }

    @Test(arguments: ["getetag", "getcontentlength", "getlastmodified"])
    func `a server that does not say what a file needs is told apart`(name: String) async throws {
        let (_, whole) = found("/files/a")
        let body = whole.replacing(name, with: "other")
        let error = await failure { _ = try await webdav(http([(207, body)])).head("a") }
        #expect(error?.status == .protocolViolation && error?.message.contains(name) == true)
    }

    @Test func `a collection is not a file`() async throws {
        let folder = try webdav(http([found("/files/a/", collection)]))
        #expect(await failure { _ = try await folder.head("a") }?.status == .notFound)
        let http = self.http([(200, "<html>a list</html>"), found("/files/a/", collection)])
        #expect(await failure { _ = try await webdav(http).get("a", from: 0, count: 9, tag: nil) }?.status == .notFound)
        let other = self.http([found("/files/a/", collection)])
        try await webdav(other).remove("a")
        #expect(other.requests.map(\.method) == [.propfind])
    }

    @Test(arguments: [200, 301, 403, 405])
    func `what is refused without a slash at its end may be a collection`(status: Int) async throws {
        let head = http([(status, "<html>a list</html>"), found("/files/a/", collection)])
        #expect(await failure { _ = try await webdav(head).head("a") }?.status == .notFound)
        #expect(head.requests.map(\.method) == [.propfind, .propfind] && head.paths == ["/files/a", "/files/a/"])
        #expect(head.requests.allSatisfy { $0.headers["Depth"] == "0" })
        let put = http([(status, "<html>a list</html>"), found("/files/a/", collection), (204, "")])
        let adapter = try webdav(put)
        let upload = try await adapter.createUpload(FileUploadRequest("a"))
        let error = await failure { _ = try await adapter.completeUpload(upload.id, size: 0, digest: nil) }
        #expect(error?.status == .conflict)
        #expect(put.requests.map(\.method) == [.propfind, .propfind, .delete])
    }

    @Test(arguments: [(200, PluginStatus.protocolViolation), (301, .protocolViolation), (403, .denied)])
    func `what is refused, and is no collection either, says why`(status: Int, expected: PluginStatus) async throws {
        for second in [(404, ""), (503, ""), (207, "<html>"), found("/files/a"), found("/files/b/", collection)] {
            let http = http([(status, "no"), second])
            #expect(await failure { _ = try await webdav(http).head("a") }?.status == expected)
            #expect(http.requests.count == 2)
        }
    }

    @Test(arguments: [401, 404, 429, 500, 503])
    func `what is refused for another reason is asked for once`(status: Int) async throws {
        let http = http([(status, "no"), found("/files/a/", collection)])
        #expect(await failure { _ = try await webdav(http).head("a") } != nil)
        #expect(http.requests.count == 1)
    }

    @Test(arguments: [
        (206, "bytes 2-4/9", "cde", "cde"), (206, "bytes 2-3/4", "cd", "cd"), (200, "", "abcdefg", "cde"),
        (200, "", "abc", "c"), (416, "bytes */2", "", ""),
    ])
    func `a part is cut out of what the server answers`(
        status: Int,
        range: String,
        body: String,
        expected: String
    ) async throws {
        let http = http([(status, body), found("/files/a")], ["Content-Range": range, "ETag": "\"1\""])
        let part = try await webdav(http).get("a", from: 2, count: 3, tag: "1")
        #expect(String(decoding: part, as: UTF8.self) == expected)
        #expect(http.requests[0].headers["Range"] == "bytes=2-4" && http.requests[0].headers["If-Match"] == nil)
    }

    @Test(arguments: [
        (206, "bytes 1-3/9", "bcd"), (206, "bytes 2-4/9", "cd"), (206, "bytes 2-9/99", "cdefghij"), (206, "", "cde"),
        (206, "bytes 2-1/9", ""), (206, "bytes 2-99999999999999999999/9", "cde"),
    ])
    func `other bytes than those asked for are refused`(status: Int, range: String, body: String) async throws {
        let http = http([(status, body)], ["Content-Range": range, "ETag": "\"1\""])
        let error = await failure { _ = try await webdav(http).get("a", from: 2, count: 3, tag: nil) }
        #expect(error?.status == .protocolViolation)
    }

    @Test func `a file that has changed is a conflict, even if the server does not compare`() async throws {
        let http = http([(200, "abc")], ["ETag": "\"2\""])
        #expect(await failure { _ = try await webdav(http).get("a", from: 0, count: 3, tag: "1") }?.status == .conflict)
    }

    @Test func `a part behind the end of a file that has changed is a conflict, and of one that is gone not found`()
        async throws
    {
        for (answer, expected) in [(found("/files/a"), PluginStatus.conflict), ((404, ""), .notFound)] {
            let http = http([(416, ""), answer])
            let error = await failure { _ = try await webdav(http).get("a", from: 9, count: 3, tag: "2") }
            #expect(error?.status == expected)
            #expect(http.requests.map(\.method) == [.get, .propfind])
        }
        let untagged = http([(416, "")])
        #expect(try await webdav(untagged).get("a", from: 9, count: 3, tag: nil) == [])
        #expect(untagged.requests.count == 1)
    }

    @Test(arguments: [("\"1\"", "W/1"), ("W/\"1\"", "1")])
    func `a tag that is weak for a while stands for the same version`(now: String, stamped: String) async throws {
        let properties = """
            <d:resourcetype/><d:getcontentlength>3</d:getcontentlength><d:getetag>\(now)</d:getetag>
            <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
            <file xmlns="urn:x-connector-host:files">{"tag": "\(stamped)", "contentType": "text/x-stamped"}</file>
            """
        let entry = try await webdav(http([found("/files/a", properties)])).head("a")
        #expect(entry.tag == "1" && entry.contentType == "text/x-stamped")
        let http = http([(200, "abc")], ["ETag": now])
        #expect(try await webdav(http).get("a", from: 0, count: 3, tag: stamped) == Array("abc".utf8))
    }

    @Test func `a list goes through the collections in order, and leaves out what is not a file`() async throws {
        func list(_ members: [(String, Bool)]) -> (Int, String) {
            let properties = """
                <d:getcontentlength>3</d:getcontentlength><d:getetag>"1"</d:getetag>
                <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
                """
            return (207, multistatus(members.map { response($0.0, $0.1 ? collection : properties) }.joined()))
        }
        let root = list([
            ("/files/", true), ("/files/b", true), ("/files/a.txt", false), ("/files/a/", true), ("/elsewhere", false),
            ("/files/.connector-uploads/", true), ("/files/c%0Ad", false), ("/files/%FF", false), ("/files/x/y", false),
        ])
        let http = http([root, list([("/files/a/", true), ("/files/a/1", false)]), list([("/files/b/2", false)])])
        let page = try await webdav(http).list(prefix: "", after: "", limit: 2)
        #expect(page.files.map(\.path) == ["a.txt", "a/1"] && page.hasMore)
        #expect(http.paths == ["/files/", "/files/a/", "/files/b/"])
        #expect(http.requests.allSatisfy { $0.headers["Depth"] == "1" })
    }

    @Test func `a list that breaks off is an error, and no page`() async throws {
        let (_, whole) = found("/files/a")
        let error = await failure {
            _ = try await webdav(http([(207, String(whole.prefix(120)))])).list(prefix: "", after: "", limit: 9)
        }
        #expect(error?.status == .protocolViolation && error?.message.contains("not XML at") == true)
    }

    // MARK: Writing

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

    @Test func `a large file of which the server has another size gets no place`() async throws {
        let http = http([(405, ""), (404, ""), (201, ""), there(0), (204, "")])
        let webdav = try webdav(NamingHTTP(script: http))
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await send(0...9, of: upload, to: webdav)
        let error = await failure { _ = try await webdav.completeUpload(upload.id, size: 10 << 20, digest: nil) }
        #expect(error?.status == .protocolViolation && error?.isRetryable == false)
        #expect(error?.message.contains("has 0 of the file's 10485760 bytes") == true)
        #expect(error?.message.contains("FastCGI") == true)
        #expect(http.requests.map(\.method) == [.mkcol, .propfind, .put, .propfind, .delete])
        #expect(Set(http.paths[2...]).count == 1, "what is removed is what was put")
    }

    @Test func `a copy has the size of its source, as far as the server says`() async throws {
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

    /// The moves that a server got.
    private func moves(_ http: ScriptedHTTP) -> [HTTPRequest] {
        http.requests.filter { $0.method == .move }
    }

    @Test func `a server that refuses every tag in If is asked without, if the tag is still there`() async throws {
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

    @Test(arguments: [404, 409, 500])
    func `a collection that is missing is made, whatever the server says of it`(status: Int) async throws {
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

    @Test func `a server that fails is asked once more if a collection may be missing, and not if none can be`()
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

    @Test func `a put that fails leaves nothing behind`() async throws {
        let http = http([(404, ""), (507, "full"), (404, "")])
        let webdav = try webdav(http)
        let upload = try await webdav.createUpload(FileUploadRequest("a"))
        try await webdav.uploadPart([1, 2, 3], of: upload.id, at: 0)
        let error = await failure { _ = try await webdav.completeUpload(upload.id, size: 3, digest: nil) }
        #expect(error?.status == .unavailable && error?.isRetryable == false)
        #expect(http.requests.map(\.method) == [.propfind, .put, .delete])
        #expect(http.paths[1] == http.paths[2] && http.paths[1].hasPrefix("/files/.connector-uploads/"))
    }

    @Test func `nothing foreign reads as a placeholder, or reaches the adapter's own files`() async throws {
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
