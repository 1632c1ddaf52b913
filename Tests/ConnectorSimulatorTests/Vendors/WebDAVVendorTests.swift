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
        var headers: HTTPFields = ["Authorization": "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk", "Depth": "1"]
        for field in more { headers[field.name] = field.value }
        return server.respond(to: SimulatedRequest(method, path, headers: headers, body: Array(body.utf8)))
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
        #expect(patch(set("<d:getetag>x</d:getetag>") + set("<p>4</p>")).status == 409)
        #expect(try values("p") == [])
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
}
