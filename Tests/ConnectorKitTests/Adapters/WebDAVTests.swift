// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import webdav

/// The adapter of WebDAV servers: opening, and reading.
@Suite struct WebDAVTests: WebDAVSuite {
    // MARK: Opening

    @Test func `credentials are proved only if a request without them is refused`() async throws {
        for (status, kind) in [(401, Evidence.Kind.authenticated), (403, .authenticated), (207, .reachable)] {
            let http = http([found("/files/", collection), (status, multistatus(""))])
            #expect(try await webdav(http).open().map(\.kind) == [kind])
            #expect(http.requests.map(\.method) == [.propfind, .propfind, .propfind])
            #expect(http.paths == ["/files/", "/files/", "/files/.connector-uploads/"])
            #expect(http.requests[0].headers["Authorization"] == "Basic {{base64:ada:{{secret:password}}}}")
            #expect(http.requests[1].headers["Authorization"] == nil)
        }
        let anybody = try WebDAV(
            configuration: PluginConfiguration(["endpoint": "http://vendor.example/files"]),
            host: .scripted(http([found("/files/", collection)]))
        )
        #expect(try await anybody.open().map(\.kind) == [.reachable])
    }

    @Test func `a request without credentials that gets no answer, or another one, does not fail the opening`()
        async throws
    {
        let shown = ScriptedHTTP.Answer.response(
            HTTPResponse(status: 207, body: Array(found("/files/", collection).1.utf8))
        )
        let late = ScriptedHTTP.Answer.failure(PluginError(.timedOut, "too late"))
        for answer in [late, .response(HTTPResponse(status: 503)), .response(HTTPResponse(status: 404))] {
            let http = ScriptedHTTP([shown, answer])
            #expect(try await webdav(http).open() == [.reachable("the server shows the collection")])
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

    @Test(arguments: [
        ("400 No required SSL certificate was sent", PluginStatus.protocolViolation, "requires a client certificate"),
        ("400 The plain HTTP request was sent to HTTPS port", .protocolViolation, "must begin with https://"),
        ("400 Bad Request", .invalid, "webdav answered HTTP 400: 400 Bad Request"),
    ])
    func `a web page that refuses a request is quoted, and says so if TLS or a certificate is missing`(
        title: String,
        expected: PluginStatus,
        words: String
    ) async throws {
        let page = "<html>\r\n<head><title>\(title)</title></head>\r\n<body><hr><center>nginx</center></body></html>"
        let error = await failure { _ = try await webdav(http([(400, page)])).open() }
        #expect(error?.status == expected)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        (["Digest realm=\"a\", nonce=\"b\""], PluginStatus.unsupported),
        (["Negotiate", "Digest realm=\"a\""], .unsupported),
        (["Digest realm=\"a\", basic realm=\"b\""], .unauthorized),
        (["Negotiate", "Basic realm=\"a\""], .unauthorized),
    ])
    func `a server that offers no Basic authentication is not said to reject the credentials`(
        challenges: [String],
        expected: PluginStatus
    ) async throws {
        let headers = HTTPFields(challenges.map { HTTPField(name: "WWW-Authenticate", value: $0) })
        let error = await failure { _ = try await webdav(http([(401, "")], headers)).open() }
        #expect(error?.status == expected)
        #expect(error?.message.contains("no Basic authentication") == (expected == .unsupported))
    }

    @Test func `an answer about another path than the endpoint's names it`() async throws {
        let error = await failure { _ = try await webdav(http([found("/basic/", collection)])).open() }
        #expect(error?.status == .protocolViolation)
        #expect(error?.message.contains("but of /basic/; if the server redirects, set endpoint") == true)
    }

    @Test func `an endpoint that is a file, or has a query, is refused`() async throws {
        #expect(await failure { _ = try await webdav(http([found("/files/")])).open() }?.status == .notFound)
        #expect(throws: PluginError.self) { try webdav(ScriptedHTTP(), ["endpoint": "http://vendor.example/?a=b"]) }
    }

    @Test func `a server that asks for patience is tried again after its time`() async throws {
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
    func `a path is recognized however the server writes it`(href: String) async throws {
        let entry = try await webdav(http([found(href)])).head("a b")
        #expect(entry.path == "a b" && entry.size == 3 && entry.tag == "1" && entry.digest == nil)
    }

    @Test func `the adapter's stamp counts as long as the content is the same`() async throws {
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
    func `an answer that is not a multistatus is refused`(body: String) async throws {
        let error = await failure { _ = try await webdav(http([(207, body)])).head("a") }
        #expect(error?.status == .protocolViolation && error?.isRetryable == true)
    }

    @Test(arguments: ["getetag", "getcontentlength", "getlastmodified"])
    func `an answer without tag, size or time breaks the protocol and names what is missing`(name: String) async throws
    {
        let (_, whole) = found("/files/a")
        let body = whole.replacing(name, with: "other")
        let error = await failure { _ = try await webdav(http([(207, body)])).head("a") }
        #expect(error?.status == .protocolViolation && error?.message.contains(name) == true)
        #expect(error?.isRetryable == false, "the server will not give it when it is asked again")
    }

    @Test(arguments: ["404 Not Found", "410 Gone"])
    func `a multistatus may say that nothing is there`(status: String) async throws {
        func told(_ path: String, _ status: String) -> ScriptedHTTP {
            let line = "<d:status>HTTP/1.1 \(status)</d:status>"
            let nothing = multistatus("<d:response><d:href>\(path)</d:href>\(line)</d:response>")
            return http([(207, nothing), found("/files/", collection)])
        }
        #expect(await failure { _ = try await webdav(told("/files/a", status)).head("a") }?.status == .notFound)
        let removal = told("/files/a", status)
        try await webdav(removal).remove("a")
        #expect(removal.paths == ["/files/a", "/files/"])
        let error = await failure { _ = try await webdav(told("/files/b", status)).head("a") }
        #expect(error?.status == .protocolViolation && error?.message.contains("says nothing of") == true)
    }

    @Test(arguments: [
        ("403 Forbidden", PluginStatus.denied), ("423 Locked", .conflict), ("401 Unauthorized", .unauthorized),
    ])
    func `a multistatus may refuse a resource, or all its properties`(status: String, expected: PluginStatus)
        async throws
    {
        let line = "<d:status>HTTP/1.1 \(status)</d:status>"
        for answer in [line, "<d:propstat><d:prop><d:getetag/></d:prop>\(line)</d:propstat>"] {
            let body = multistatus("<d:response><d:href>/files/a</d:href>\(answer)</d:response>")
            let error = await failure { _ = try await webdav(http([(207, body)])).head("a") }
            #expect(
                error?.status == expected && error?.message.contains("HTTP \(status.prefix(3))") == true,
                "\(answer)"
            )
        }
    }

    @Test func `a collection that cannot be read is named`() async throws {
        let members = multistatus(response("/files/b/", collection))
        let error = await failure {
            _ = try await webdav(http([(207, members), (403, "")])).list(prefix: "", after: "", limit: 9)
        }
        #expect(error?.status == .denied && error?.message.contains("the collection is \"b\"") == true)
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

    @Test(arguments: [
        (207, #"<d:multistatus xmlns:d="DAV:"/>"#, PluginStatus.protocolViolation), (301, "", .protocolViolation),
        (403, "no", .denied), (405, "Method Not Allowed", .unsupported),
        (501, "GET is only implemented on File objects", .unsupported),
    ])
    func `a GET that is not answered with content may be about a collection, and otherwise fails so`(
        status: Int,
        body: String,
        expected: PluginStatus
    ) async throws {
        for (found, expected) in [(found("/files/a/", collection), .notFound), (found("/files/a"), expected)]
            as [((Int, String), PluginStatus)]
        {
            let http = http([(status, body), found])
            let error = await failure { _ = try await webdav(http).get("a", from: 0, count: 9, tag: nil) }
            #expect(error?.status == expected)
            #expect(http.requests.map(\.method) == [.get, .propfind])
        }
    }

    @Test(arguments: [200, 301, 403, 405])
    func `a path that is refused without a slash at its end may be a collection`(status: Int) async throws {
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
    func `a path that is refused and is not a collection either fails with the first refusal`(
        status: Int,
        expected: PluginStatus
    ) async throws {
        for second in [(404, ""), (503, ""), (207, "<html>"), found("/files/a"), found("/files/b/", collection)] {
            let http = http([(status, "no"), second])
            #expect(await failure { _ = try await webdav(http).head("a") }?.status == expected)
            #expect(http.requests.count == 2)
        }
    }

    @Test func `there is nothing below a file, even if the server refuses such a path, or reads the file`() async throws
    {
        let root = found("/files/", collection)
        let forbidden = http([(403, ""), (403, ""), found("/files/x"), root])
        #expect(await failure { _ = try await webdav(forbidden).head("x/y") }?.status == .notFound)
        #expect(forbidden.paths == ["/files/x/y", "/files/x/y/", "/files/x", "/files/"])
        let denied = http([(403, ""), (403, ""), found("/files/x/", collection)])
        #expect(await failure { _ = try await webdav(denied).head("x/y") }?.status == .denied)
        let argument = http([(200, "abc"), (404, ""), root], ["ETag": "\"1\""])
        let read = await failure { _ = try await webdav(argument).get("x/y", from: 0, count: 3, tag: nil) }
        #expect(read?.status == .notFound)
        #expect(argument.requests.map(\.method) == [.get, .propfind, .propfind])
        let malformed = (400, "extraneous path components")
        let head = http([malformed, found("/files/x/", collection), found("/files/x/y"), root])
        #expect(await failure { _ = try await webdav(head).head("x/y/z/u") }?.status == .notFound)
        #expect(head.paths == ["/files/x/y/z/u", "/files/x", "/files/x/y", "/files/"])
        let remove = http([malformed, found("/files/x"), root])
        try await webdav(remove).remove("x/y")
        #expect(remove.paths == ["/files/x/y", "/files/x", "/files/"])
        for above in [found("/files/x/", collection), (404, "")] {
            #expect(await failure { _ = try await webdav(http([malformed, above])).head("x/y") }?.status == .invalid)
        }
        let single = http([malformed])
        #expect(
            await failure { _ = try await webdav(single).head("x") }?.status == .invalid && single.requests.count == 1
        )
    }

    @Test(arguments: [401, 429, 500, 503])
    func `a path that is refused for another reason is asked for only once`(status: Int) async throws {
        let http = http([(status, "no"), found("/files/a/", collection)])
        #expect(await failure { _ = try await webdav(http).head("a") } != nil)
        #expect(http.requests.count == 1)
    }

    @Test(arguments: [
        (206, "bytes 2-4/9", "cde", "cde"), (206, "bytes 2-3/4", "cd", "cd"), (200, "", "abcdefg", "cde"),
        (200, "", "abc", "c"),
    ])
    func `a part is cut out of a larger answer`(
        status: Int,
        range: String,
        body: String,
        expected: String
    ) async throws {
        let http = http([(status, body)], ["Content-Range": range, "ETag": "\"1\""])
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

    @Test func `a part without a tag is refused, and the error names what the server lacks`() async throws {
        let http = http([(200, "abc"), found("/files/a")])
        let error = await failure { _ = try await webdav(http).get("a", from: 0, count: 3, tag: nil) }
        #expect(error?.status == .protocolViolation && error?.message.contains("no ETag") == true)
        #expect(error?.message.contains("mimetype.assign") == true)
        #expect(http.requests.map(\.method) == [.get, .propfind])
    }

    @Test func `a part beyond the end is a conflict if the file has changed, and not found if it is gone`()
        async throws
    {
        let root = found("/files/", collection)
        for (answers, expected) in [([found("/files/a")], PluginStatus.conflict), ([(404, ""), root], .notFound)] {
            let http = http([(416, "")] + answers)
            let error = await failure { _ = try await webdav(http).get("a", from: 9, count: 3, tag: "2") }
            #expect(error?.status == expected)
            #expect(
                http.requests.dropFirst().map(\.method)
                    == [HTTPRequest.Method](repeating: .propfind, count: answers.count)
            )
        }
        let untagged = http([(416, "")])
        #expect(try await webdav(untagged).get("a", from: 9, count: 3, tag: nil) == [])
        #expect(untagged.requests.count == 1)
    }

    @Test(arguments: [0, 2, 3, 9] as [UInt64])
    func `a part that the server refuses although the file has it is the server's mistake`(offset: UInt64) async throws
    {
        let webdav = try webdav(http([(416, ""), found("/files/a")], ["Content-Range": "bytes */0"]))
        guard offset < 3 else {
            #expect(try await webdav.get("a", from: offset, count: 3, tag: "1") == [])
            return
        }
        let error = await failure { _ = try await webdav.get("a", from: offset, count: 3, tag: "1") }
        #expect(error?.status == .protocolViolation && error?.detail == 416)
        #expect(error?.message == "the server refuses byte \(offset) of \"a\", which has more")
    }

    @Test func `a compressed answer for which nobody asked is refused, and names the coding`() async throws {
        let list = http([found("/files/a")], ["Content-Encoding": "gzip"])
        let listing = await failure { _ = try await webdav(list).list(prefix: "", after: "", limit: 9) }
        let part = http(
            [(206, "packed")],
            ["Content-Encoding": "gzip", "Content-Range": "bytes 0-2/3", "ETag": "\"1\""]
        )
        let reading = await failure { _ = try await webdav(part).get("a", from: 0, count: 3, tag: "1") }
        for error in [listing, reading] {
            #expect(error?.status == .protocolViolation && error?.message.contains("Content-Encoding \"gzip\"") == true)
        }
        let busy = http([(503, "packed")], ["Content-Encoding": "gzip"])
        #expect(
            await failure { _ = try await webdav(busy).list(prefix: "", after: "", limit: 9) }?.status == .unavailable
        )
        // A file may be kept compressed.
        let kept = http([(206, "abc")], ["Content-Encoding": "gzip", "Content-Range": "bytes 0-2/3", "ETag": "\"1\""])
        #expect(try await webdav(kept).get("a", from: 0, count: 3, tag: "1") == Array("abc".utf8))
    }

    // MARK: A collection that is gone

    /// The ways in which a server says that the collection of the endpoint is not there.
    private var absences: [(Int, String)] {
        let line = "<d:status>HTTP/1.1 404 Not Found</d:status>"
        return [(404, ""), (410, ""), (207, multistatus("<d:response><d:href>/files/</d:href>\(line)</d:response>"))]
    }

    private func expectGone(_ error: PluginError?, _ context: String) {
        #expect(error?.status == .unavailable && error?.isRetryable == true, "\(context)")
        #expect(error?.message.contains("the collection http://vendor.example/files is gone") == true, "\(context)")
    }

    @Test func `once the endpoint's collection is gone, nothing is said to be missing or listed as empty`() async throws
    {
        for gone in absences {
            let nothing = (404, "")
            let list = http([gone])
            expectGone(await failure { _ = try await webdav(list).list(prefix: "", after: "", limit: 9) }, "list")
            #expect(list.requests.count == 1)
            let head = http([nothing, gone])
            expectGone(await failure { _ = try await webdav(head).head("a") }, "head")
            #expect(head.paths == ["/files/a", "/files/"])
            let get = http([nothing, gone])
            expectGone(await failure { _ = try await webdav(get).get("a", from: 0, count: 3, tag: "1") }, "get")
            expectGone(await failure { try await webdav(http([nothing, gone])).remove("a") }, "remove")
            expectGone(await failure { _ = try await webdav(http([nothing, gone])).copy("a", to: "b") }, "copy")
        }
        let below = http([(207, multistatus(response("/files/b/", collection))), (404, "")])
        #expect(try await webdav(below).list(prefix: "", after: "", limit: 9).files == [])
    }

    @Test func `a file is missing only if the endpoint's collection answers`() async throws {
        for (answer, expected) in [
            (found("/files/", collection), PluginStatus.notFound), ((503, ""), .unavailable),
            ((401, ""), .unauthorized),
        ] {
            #expect(await failure { _ = try await webdav(http([(404, ""), answer])).head("a") }?.status == expected)
        }
    }

    @Test(arguments: [("\"1\"", "W/1"), ("W/\"1\"", "1")])
    func `a tag stands for the same version whether it is weak or strong`(now: String, stamped: String) async throws {
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

    @Test func `a page of many files has the first of them, in whatever order the server names them`() async throws {
        let properties = """
            <d:getcontentlength>3</d:getcontentlength><d:getetag>"1"</d:getetag>
            <d:getlastmodified>Sat, 31 Jan 2026 09:30:00 GMT</d:getlastmodified>
            """
        let names = (0..<3000).map { "/files/\(9000 - $0 / 2)" }
        let http = http([(207, multistatus(names.map { response($0, properties) }.joined()))])
        let page = try await webdav(http).list(prefix: "", after: "7501", limit: 3)
        #expect(page.files.map(\.path) == ["7502", "7503", "7504"] && page.hasMore)
        #expect(http.requests.count == 1)
    }

    @Test func `a collection that the server names twice is listed once`() async throws {
        let twice = response("/files/a/", collection) + response("/files/a/", collection)
        let http = http([(207, multistatus(twice)), found("/files/a/b")])
        let page = try await webdav(http).list(prefix: "", after: "", limit: 3)
        #expect(page.files.map(\.path) == ["a/b"] && !page.hasMore)
        #expect(http.requests.count == 2)
    }

    @Test func `a list that breaks off is an error, not a page`() async throws {
        let (_, whole) = found("/files/a")
        let error = await failure {
            _ = try await webdav(http([(207, String(whole.prefix(120)))])).list(prefix: "", after: "", limit: 9)
        }
        #expect(error?.status == .protocolViolation && error?.message.contains("not XML at") == true)
    }
}
