// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import webdav

/// The adapter of WebDAV servers: opening, and reading.
@Suite struct WebDAVTests: WebDAVSuite {
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
}
