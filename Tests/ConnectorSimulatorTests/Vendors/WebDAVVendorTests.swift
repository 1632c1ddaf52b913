// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct WebDAVVendorTests {
    private let server = WebDAVVendor.demo()

    private func send(
        _ method: String,
        _ path: String,
        _ body: String = "",
        headers more: HTTPFields = [:]
    ) -> HTTPResponse {
        var headers: HTTPFields = ["Authorization": "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk"]
        if method == "PROPFIND" { headers["Depth"] = "1" }
        for field in more { headers[field.name] = field.value }
        let request = SimulatedRequest(method, path, headers: headers, body: Array(body.utf8), receivedAt: noon)
        return server.respond(to: request)
    }

    @Test func `the root cannot be deleted`() {
        #expect(send("PUT", "/files/a", "1").status == 201)
        #expect(send("DELETE", "/").status == 403)
        #expect(send("GET", "/files/a").text == "1")
        #expect(send("PROPFIND", "/").status == 207)
    }

    @Test func `properties are set and removed in the order of the request`() throws {
        _ = send("PUT", "/files/a", "1")
        func patch(_ changes: String) -> HTTPResponse {
            let body = "<d:propertyupdate xmlns:d='DAV:' xmlns='urn:x'>\(changes)</d:propertyupdate>"
            return send("PROPPATCH", "/files/a", body)
        }
        func set(_ property: String) -> String { "<d:set><d:prop>\(property)</d:prop></d:set>" }
        func values(_ name: String) throws -> [String] {
            let body = "<d:propfind xmlns:d='DAV:' xmlns='urn:x'><d:prop><\(name)/></d:prop></d:propfind>"
            let found = try XMLElement(parsing: send("PROPFIND", "/files/a", body).body)["response"]?["propstat"]
            guard found?["status"]?.text.hasSuffix("200 OK") == true else { return [] }
            return found?["prop"]?.all(name).map(\.text) ?? []
        }
        let remove = "<d:remove><d:prop><p/></d:prop></d:remove>"
        let answer = patch(set("<p>1</p>") + remove + set("<p>2</p><q>1</q><q>2</q>"))
        let names = try XMLElement(parsing: answer.body)["response"]?["propstat"]?["prop"]?.children.map(\.name)
        #expect(answer.status == 207 && names == ["p", "q"])
        #expect(try values("p") == ["2"] && values("q") == ["2"])
        #expect(patch(set("<p>3</p>") + remove).status == 207)
        #expect(try values("p") == [])
        #expect(patch("<d:set><d:prop><p xmlns:bar=''/></d:prop></d:set>").status == 400)
        let refused = patch(set("<d:getetag>x</d:getetag>") + set("<p>4</p>"))
        let parts = try XMLElement(parsing: refused.body)["response"]?.all("propstat") ?? []
        #expect(refused.status == 207 && parts.map { $0["prop"]?.children.first?.name } == ["getetag", "p"])
        #expect(parts.map { $0["status"]?.text } == ["HTTP/1.1 403 Forbidden", "HTTP/1.1 424 Failed Dependency"])
        #expect(try values("p") == [])
        #expect(patch(set("<d:displayname>A</d:displayname>")).text.contains("200 OK"))
        let shown = send("PROPFIND", "/files/a", "<propfind xmlns='DAV:'><prop><displayname/></prop></propfind>")
        let property = try XMLElement(parsing: shown.body)["response"]?["propstat"]?["prop"]?["displayname"]
        #expect(property?.text == "A")
        let bare = send("PROPFIND", "/files/a", "<propfind xmlns='DAV:'><propname/></propfind>")
        let found = try XMLElement(parsing: bare.body)["response"]?["propstat"]?["prop"]
        #expect(found?["q"]?.text.isEmpty == true && found?["getetag"]?.text.isEmpty == true)
    }

    @Test func `conditions hold for removals and moves, and a copy may leave the members out`() {
        _ = send("MKCOL", "/files/c")
        _ = send("PUT", "/files/c/a", "1")
        let target: HTTPFields = ["Destination": "http://127.0.0.1/files/d", "Depth": "0"]
        #expect(send("COPY", "/files/c", headers: target).status == 201)
        #expect(send("GET", "/files/d").status == 200 && send("GET", "/files/d/a").status == 404)
        var stale: HTTPFields = ["If-Match": "\"x\"", "Destination": "http://127.0.0.1/files/e"]
        for method in ["DELETE", "MOVE"] { #expect(send(method, "/files/c/a", headers: stale).status == 412) }
        stale["If-Match"] = send("GET", "/files/c/a").headers["ETag"]
        #expect(send("MOVE", "/files/c/a", headers: stale).status == 201 && send("GET", "/files/e").text == "1")
        #expect(send("GET", "/files/e", headers: ["Range": "bytes=-1"]).headers["Content-Range"] == "bytes 0-0/1")
    }

    @Test func `names are compared by bytes`() {
        #expect(send("PUT", "/files/%C3%A9", "1").status == 201)
        #expect(send("PUT", "/files/e%CC%81", "2").status == 201)
        #expect(send("GET", "/files/%C3%A9").text == "1" && send("GET", "/files/e%CC%81").text == "2")
        #expect(send("DELETE", "/files/e%CC%81").status == 204)
        #expect(send("GET", "/files/%C3%A9").text == "1")
    }

    @Test(arguments: [
        ("If-None-Match", "\"1\"", 304, 412), ("If-None-Match", "W/\"1\"", 304, 412),
        ("If-None-Match", "*", 304, 412), ("If-None-Match", "\"2\", \"1\"", 304, 412),
        ("If-None-Match", "\"2\"", 200, 204), ("If-None-Match", "1", 200, 204), ("If-Match", "\"1\"", 200, 204),
        ("If-Match", "*", 200, 204), ("If-Match", "W/\"1\"", 412, 412), ("If-Match", "1", 412, 412),
        ("If-Modified-Since", "Fri, 02 Jan 2026 12:00:00 GMT", 304, 204),
        ("If-Modified-Since", "Fri, 02 Jan 2026 11:59:59 GMT", 200, 204),
        ("If-Unmodified-Since", "Fri, 02 Jan 2026 12:00:00 GMT", 200, 204),
        ("If-Unmodified-Since", "Fri, 02 Jan 2026 11:59:59 GMT", 412, 412),
    ])
    func `a file is read and removed under conditions`(
        _ name: String,
        _ value: String,
        _ whenRead: Int,
        _ whenRemoved: Int
    ) {
        _ = send("PUT", "/files/a", "abc")
        let condition = HTTPFields([HTTPField(name: name, value: value)])
        for method in ["GET", "HEAD"] {
            let answer = send(method, "/files/a", headers: condition)
            #expect(answer.status == whenRead)
            #expect(whenRead == 412 || answer.headers["ETag"] == "\"1\"")
            if whenRead == 304 { #expect(answer.body.isEmpty) }
        }
        #expect(send("DELETE", "/files/a", headers: condition).status == whenRemoved)
    }

    @Test func `a tag decides, and not the date beside it`() {
        _ = send("PUT", "/files/a", "abc")
        let past = "Fri, 02 Jan 2026 11:59:59 GMT"
        let match: HTTPFields = ["If-Match": "\"1\"", "If-Unmodified-Since": past]
        #expect(send("GET", "/files/a", headers: match).status == 200)
        let other: HTTPFields = ["If-None-Match": "\"2\"", "If-Modified-Since": noon.httpDate]
        #expect(send("GET", "/files/a", headers: other).status == 200)
        for (known, status) in [("\"1\"", 206), (noon.httpDate, 206), ("\"2\"", 200), (past, 200)] {
            #expect(send("GET", "/files/a", headers: ["Range": "bytes=1-", "If-Range": known]).status == status)
        }
    }

    @Test(arguments: [
        ("([\"1\"])", 204), ("([W/\"1\"])", 204), ("([\"2\"])", 412), ("([\"2\"]) ([\"1\"])", 204),
        ("([\"1\"] [\"2\"])", 412), ("(Not [\"2\"])", 204), ("(<urn:uuid:1>)", 412), ("(Not <DAV:no-lock>)", 204),
        ("(<urn:uuid:1> [\"1\"])", 412), ("</files/b> ([\"2\"])", 204), ("</files/c> ([\"1\"])", 412),
        ("<http://127.0.0.1/files/b> ([\"2\"])", 204), ("(1)", 400), ("()", 400), ("([\"1\"]", 400), ("", 400),
        ("</files/a>", 400), ("(Not)", 400),
    ])
    func `the lists of the field If are conditions on tags`(_ field: String, _ status: Int) {
        _ = send("PUT", "/files/a", "1")
        _ = send("PUT", "/files/b", "2")
        #expect(send("PUT", "/files/a", "3", headers: ["If": field]).status == status)
        #expect(send("GET", "/files/a").text == (status == 204 ? "3" : "1"))
    }

    @Test func `the depth must suit the method and the resource`() {
        _ = send("MKCOL", "/files/c")
        _ = send("PUT", "/files/c/a", "1")
        func status(_ method: String, _ path: String, depth: String) -> Int {
            let target: HTTPFields = ["Depth": depth, "Destination": "http://127.0.0.1/files/d"]
            return send(method, path, headers: target).status
        }
        #expect(status("PROPFIND", "/files/c/a", depth: "infinity") == 207)
        #expect(status("PROPFIND", "/files/c", depth: "infinity") == 403)
        #expect(status("PROPFIND", "/files/c", depth: "2") == 400)
        #expect(status("COPY", "/files/c", depth: "1") == 400)
        for method in ["MOVE", "DELETE"] {
            #expect(status(method, "/files/c", depth: "0") == 400)
            #expect(status(method, "/files/c/a", depth: "1") == 400)
        }
        #expect(send("GET", "/files/c/a").text == "1")
        #expect(status("MOVE", "/files/c", depth: "Infinity") == 201)
        #expect(send("GET", "/files/d/a").text == "1")
    }

    @Test func `a destination that is no URL of this server is refused`() {
        _ = send("PUT", "/files/a", "1")
        func status(_ destination: String) -> Int {
            let fields: HTTPFields = ["Host": "127.0.0.1:8080", "Destination": destination]
            return send("COPY", "/files/a", headers: fields).status
        }
        #expect(status("http://dav.example/files/b") == 502)
        #expect(status("http://127.0.0.1/files/b") == 502)
        #expect(status("/files/b") == 400)
        #expect(status("http://127.0.0.1:8080/files/b") == 201)
    }

    @Test func `an unknown method is refused with those that there are`() {
        let answer = send("LOCK", "/files/a")
        #expect(answer.status == 405)
        #expect(answer.headers["Allow"]?.contains("PROPFIND") == true)
    }
}
