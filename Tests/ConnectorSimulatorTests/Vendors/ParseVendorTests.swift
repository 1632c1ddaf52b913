// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct ParseVendorTests {
    private let parse = ParseVendor.demo()
    private let headers: HTTPFields = ["X-Parse-Application-Id": "demo-app", "X-Parse-REST-API-Key": "demo-rest-key"]

    /// Calls with valid credentials.
    private func call(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        requestID: String? = nil
    ) -> HTTPResponse {
        var request = SimulatedRequest(method, "/parse/\(path)", headers: headers, receivedAt: noon)
        if let body { request.body = body.utf8() }
        request.fields["X-Parse-Request-Id"] = requestID
        return parse.respond(to: request)
    }

    /// Creates an object and returns its id.
    private func create(_ fields: JSONValue) throws -> String {
        try #require(call("POST", "classes/Game", fields).json["objectId"]?.string)
    }

    /// The names of the objects a constraint selects.
    private func names(where constraint: JSONValue, _ more: String = "") -> [String?] {
        let text = PercentCoding.encode(constraint.serialized())
        let results = call("GET", "classes/Game?where=\(text)\(more)").json["results"]?.array ?? []
        return results.map { $0["name"]?.string }
    }

    @Test func `values are compared exactly`() throws {
        _ = try create(["name": "caf\u{e9}", "n": 9_007_199_254_740_993])
        _ = try create(["name": "cafe\u{301}", "n": 1])
        func found(_ constraint: JSONValue) -> [[UInt8]?] { names(where: constraint).map { $0.map { Array($0.utf8) } } }
        let second = Array("cafe\u{301}".utf8)
        #expect(found(["name": "cafe\u{301}"]) == [second] && found(["name": ["$in": ["cafe\u{301}"]]]) == [second])
        #expect(found(["name": ["$lt": "caf\u{e9}"]]) == [second])
        #expect(found(["n": 9_007_199_254_740_992]) == [] && found(["n": ["$lt": 9_007_199_254_740_993]]) == [second])
    }

    @Test func `an object is created, read, changed and deleted`() throws {
        let created = call("POST", "classes/Game", ["score": 1])
        #expect(created.status == 201)
        #expect(created.json["createdAt"] == "2026-01-02T12:00:00.000Z")
        let id = try #require(created.json["objectId"]?.string)
        #expect(id.count == 10)
        #expect(created.headers["Location"] == "http://127.0.0.1/parse/classes/Game/\(id)")
        #expect(call("GET", "classes/Game/\(id)").json["score"] == 1)
        #expect(call("PUT", "classes/Game/\(id)", ["score": 2]).json == ["updatedAt": "2026-01-02T12:00:00.000Z"])
        #expect(call("DELETE", "classes/Game/\(id)").json == [:])
        let missing = call("GET", "classes/Game/\(id)")
        #expect(missing.status == 404)
        #expect(missing.json == ["code": 101, "error": "Object not found."])
        #expect(call("PUT", "classes/Game/\(id)", [:]).status == 404)
        #expect(call("DELETE", "classes/Game/\(id)").status == 404)
    }

    @Test(arguments: ["objectId", "id"])
    func `an id of the client's own is refused`(_ name: String) {
        let refusal: JSONValue = ["code": 105, "error": .string("\(name) is an invalid field name.")]
        func create(in collection: String, _ id: JSONValue) -> HTTPResponse {
            call("POST", "classes/\(collection)", .object([name: id]))
        }
        let answer = create(in: "Game", "x")
        #expect(answer.status == 400 && answer.json == refusal)
        for (collection, nothing) in [("A", .null), ("B", ""), ("C", 0), ("D", false)] as [(String, JSONValue)] {
            #expect(create(in: collection, nothing).status == 201)
        }
    }

    @Test func `operations change existing fields and tell the result`() throws {
        let id = try create(["score": 1, "tags": ["a"], "gone": true])
        let changed = call(
            "PUT",
            "classes/Game/\(id)",
            [
                "score": ["__op": "Increment", "amount": 4], "tags": ["__op": "AddUnique", "objects": ["a", "b"]],
                "gone": ["__op": "Delete"],
            ]
        )
        #expect(changed.json["score"] == 5)
        #expect(changed.json["tags"] == ["a", "b"])
        let object = call("GET", "classes/Game/\(id)").json
        #expect(object["score"] == 5)
        #expect(object["gone"] == nil)
        #expect(call("PUT", "classes/Game/\(id)", ["tags": ["__op": "Increment", "amount": 1]]).status == 400)
    }

    @Test func `queries select, order and count`() throws {
        for (index, name) in ["ann", "bob", "cid", "dan"].enumerated() {
            _ = try create(["name": .string(name), "n": .integer(Int64(index)), "tags": [.string(name), "x"]])
        }
        _ = try create(["name": "eve"])
        #expect(names(where: ["n": ["$gte": 1, "$lt": 3]], "&order=name") == ["bob", "cid"])
        #expect(names(where: ["n": ["$in": [0, 3]]], "&order=-n") == ["dan", "ann"])
        #expect(names(where: ["n": ["$in": [0, 3]]], "&order=-n,%CC%81x") == ["dan", "ann"], "a combining mark")
        #expect(
            names(where: ["name": ["$ne": "ann"], "n": ["$exists": true]], "&order=name&limit=2&skip=1") == [
                "cid", "dan",
            ]
        )
        #expect(names(where: ["$or": [["name": "eve"], ["n": 2]]], "&order=name") == ["cid", "eve"])
        #expect(names(where: ["name": ["$regex": "^\\Qb\\E"]]) == ["bob"])
        #expect(names(where: ["name": ["$regex": "^B", "$options": "i"]]) == ["bob"])
        #expect(names(where: ["tags": "cid"]) == ["cid"])
        #expect(names(where: ["tags": ["$all": ["x", "dan"]]]) == ["dan"])
        #expect(names(where: ["n": nil]) == ["eve"])
        #expect(call("GET", "classes/Game?count=1&limit=0").json == ["results": [], "count": 5])
        let keys = call("GET", "classes/Game?keys=name&limit=1&order=name").json["results"]?[0]?.object?.names ?? []
        #expect(Set(keys) == ["name", "objectId", "createdAt", "updatedAt"])
    }

    @Test(arguments: [
        ("(a+)+$", "repeats a group"), ("(a|a)*$", "repeats a group"), ("((a{1,9})b?){2,}", "repeats a group"),
        (#"(a+\Q)\E)+$"#, "repeats a group"), (".*.*.*.*x", "it may not end"), ("(", "bad $regex value"),
        ("(?x)^(a+) +$", "repeats a group"), (String(repeating: "(a|a)", count: 16) + "x", "it may not end"),
    ])
    func `a pattern that may backtrack endlessly is refused`(_ pattern: String, _ words: String) throws {
        _ = try create(["name": .string(String(repeating: "a", count: 600) + "!")])
        let text = PercentCoding.encode(JSONValue.object(["name": ["$regex": .string(pattern)]]).serialized())
        let answer = call("GET", "classes/Game?where=\(text)")
        #expect(answer.status == 400 && answer.json["code"] == 102)
        #expect(answer.json["error"]?.string?.contains(words) == true)
    }

    @Test(arguments: [
        #"^\d+(\.\d+)?$"#, "^[0-9(+)]*", #"^(\p{Nd})+\.5"#, "^1[.]+5$", #"\(?1"#,
    ])
    func `a pattern that only moves forward is matched`(_ pattern: String) throws {
        _ = try create(["name": "1.5"])
        #expect(names(where: ["name": ["$regex": .string(pattern)]]) == ["1.5"])
    }

    @Test func `a server's maxLimit caps every query, and the count stays whole`() throws {
        let set = ParseVendor.demoCredentials.merging(["maxLimit": "2"]) { $1 }
        let parse = ParseVendor(credentials: AcceptedCredentials([set]))
        for _ in 0..<3 {
            #expect(parse.respond(to: .json("POST", "/parse/classes/Game", [:], headers: headers)).status == 201)
        }
        for (query, expected) in [("skip=0", 2), ("limit=9", 2), ("limit=1", 1)] {
            let page = parse.respond(to: .get("/parse/classes/Game?count=1&\(query)", headers: headers)).json
            #expect(page["results"]?.array?.count == expected && page["count"] == 3, "\(query)")
        }
    }

    @Test func `pointers are followed where that is asked for`() throws {
        let id = try create(["name": "ann"])
        let pointer: JSONValue = ["__type": "Pointer", "className": "Game", "objectId": .string(id)]
        _ = call("POST", "classes/Move", ["game": pointer])
        #expect(call("GET", "classes/Move").json["results"]?[0]?["game"] == pointer)
        #expect(call("GET", "classes/Move?include=game").json["results"]?[0]?["game"]?["name"] == "ann")
    }

    @Test func `a field keeps its type`() throws {
        let id = try create(["score": 1])
        let refused = call("PUT", "classes/Game/\(id)", ["score": "high"])
        #expect(refused.status == 400)
        #expect(
            refused.json == ["code": 111, "error": "schema mismatch for Game.score; expected Number but got String"]
        )
    }

    @Test(arguments: [
        ("POST", "classes/1x", 103), ("POST", "classes/_Secret", 103), ("GET", "classes/Game?nothing=1", 102),
        ("GET", "classes/Game?where=%7B", 107),
        ("GET", "classes/Game?where=%7B%22a%22%3A%7B%22%24bad%22%3A1%7D%7D", 102),
    ])
    func `an invalid request is refused with Parse's code`(method: String, path: String, code: Int64) throws {
        _ = try create(["a": 1])
        let response = call(method, path, method == "POST" ? [:] : nil)
        #expect(response.status == 400)
        #expect(response.json["code"] == .integer(code))
    }

    @Test func `a repeated request is refused`() {
        #expect(call("POST", "classes/Game", [:], requestID: "one").status == 201)
        let again = call("POST", "classes/Game", [:], requestID: "one")
        #expect(again.status == 400)
        #expect(again.json == ["code": 159, "error": "Duplicate request"])
        #expect(call("POST", "classes/Game", [:], requestID: "two").status == 201)
    }

    @Test func `the opening of an application is accepted`() {
        let body: JSONValue = ["at": ["__type": "Date", "iso": "2026-01-02T12:00:00.000Z"]]
        let response = call("POST", "events/AppOpened", body)
        #expect(response.status == 200)
        #expect(response.json == [:])
    }

    @Test func `a batch answers each call for itself`() throws {
        let body: JSONValue = [
            "requests": [
                ["method": "POST", "path": "/parse/classes/Game", "body": ["n": 1]],
                ["method": "DELETE", "path": "/parse/classes/Game/none"],
            ]
        ]
        let answers = call("POST", "batch", body).json
        #expect(answers[0]?["success"]?["objectId"] != nil)
        #expect(answers[1]?["error"]?["code"] == 101)
    }

    @Test func `wrong credentials are refused, health needs none, server information those of the master`() {
        let unauthorized: JSONValue = ["error": "unauthorized"]
        for (name, value) in [("X-Parse-Application-Id", "other"), ("X-Parse-REST-API-Key", "other")] {
            var wrong = headers
            wrong[name] = value
            let response = parse.respond(to: .get("/parse/classes/Game", headers: wrong))
            #expect(response.status == 403)
            #expect(response.json == unauthorized)
        }
        #expect(parse.respond(to: .get("/any/path/health")).json == ["status": "ok"])
        #expect(call("GET", "serverInfo").json == ["error": "unauthorized: master key is required"])
        let master: HTTPFields = ["X-Parse-Application-Id": "demo-app", "X-Parse-Master-Key": "demo-master-key"]
        #expect(parse.respond(to: .get("/parse/serverInfo", headers: master)).json["parseServerVersion"] != nil)
        #expect(parse.respond(to: .get("/parse/nothing")).status == 404)
    }

    @Test func `the verb and the credentials may stand in the body`() throws {
        _ = try create(["name": "ann"])
        let body: JSONValue = [
            "_method": "GET", "_ApplicationId": "demo-app", "_JavaScriptKey": "demo-javascript-key",
            "_ClientVersion": "js1", "where": ["name": "ann"],
        ]
        let request = SimulatedRequest(
            "POST",
            "/parse/classes/Game",
            headers: ["Content-Type": "text/plain"],
            body: body.utf8()
        )
        #expect(parse.respond(to: request).json["results"]?.array?.count == 1)
    }
}
