// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct PostgRESTVendorTests {
    private let server = PostgRESTVendor.demo()
    private let row = "application/vnd.pgrst.object+json"

    @discardableResult
    private func send(
        _ method: String,
        _ target: String,
        _ body: JSONValue? = nil,
        _ headers: HTTPFields = [:],
        token: String? = PostgRESTVendor.demoCredentials["token"]
    ) -> HTTPResponse {
        var headers = headers
        if let token { headers["Authorization"] = "Bearer \(token)" }
        headers["Prefer"] = headers["Prefer"] ?? "return=representation,count=exact"
        return server.respond(to: SimulatedRequest(method, target, headers: headers, body: body?.utf8() ?? []))
    }

    /// The numbers of the rows that a query finds.
    private func numbers(_ query: String) -> [Int64?]? {
        send("GET", "/things?\(query)").json.array?.map { $0["n"]?.integer }
    }

    @Test func `rows are inserted, read, changed and removed`() {
        #expect(send("POST", "/things", ["id": "a", "n": 1]).json == [["id": "a", "n": 1]])
        #expect(send("POST", "/things", ["id": "b", "n": 2], ["Accept": row]).json == ["id": "b", "n": 2])
        #expect(send("POST", "/things", [["n": 3]], ["Prefer": ""]).body.isEmpty)
        #expect(send("POST", "/things", ["id": "a"]).json["code"] == "23505")
        #expect(send("POST", "/things", [["id": "c"], 1]).status == 400)
        #expect(
            send("PATCH", "/things?id=eq.a", ["n": 9, "m": nil], ["Accept": row]).json == ["id": "a", "n": 9, "m": nil]
        )
        #expect(send("PATCH", "/things?id=eq.a", ["n": 1], ["Prefer": ""]).status == 204)
        #expect(send("PATCH", "/things?id=eq.a").json["code"] == "PGRST102")
        #expect(send("POST", "/things").json["code"] == "PGRST102")
        #expect(send("DELETE", "/things?id=eq.b").json == [["id": "b", "n": 2]])
        #expect(numbers("order=n") == [1, 3])
    }

    @Test func `rows are merged into those of the same id if that is wanted, and shown as far as they are selected`() {
        send("POST", "/things", ["id": "a", "n": 1, "t": "x"])
        let merge: HTTPFields = ["Prefer": "return=representation,resolution=merge-duplicates"]
        #expect(
            send("POST", "/things?select=t,n,m", ["id": "a", "n": 2], merge).json == [["t": "x", "n": 2, "m": nil]]
        )
        #expect(send("GET", "/things?select=n").json == [["n": 2]])
        #expect(send("DELETE", "/things?select=id", nil, ["Accept": row]).json == ["id": "a"])
    }

    @Test func `where one row is wanted, none and several are refused, and nothing is changed`() {
        for number in 1...2 { send("POST", "/things", ["n": .integer(Int64(number))]) }
        for method in ["GET", "PATCH", "DELETE"] {
            let several = send(method, "/things", ["n": 9], ["Accept": row])
            #expect(several.status == 406 && several.json["details"] == "The result contains 2 rows")
            let none = send(method, "/things?n=eq.7", ["n": 9], ["Accept": row])
            #expect(none.json["code"] == "PGRST116" && none.json["details"] == "The result contains 0 rows")
        }
        #expect(numbers("order=n.desc") == [2, 1])
    }

    @Test(arguments: [
        ("n=eq.2", [2]), ("n=neq.2", [1, 3]), ("n=gt.1&n=lte.2", [2]), ("n=in.(1,3)", [1, 3]), ("t=is.null", [1]),
        ("t=not.is.null", [2, 3]), ("t=not.eq.x", [3]), (#"t=in.("x","y,z")"#, [2, 3]), ("or=(n.eq.1,t.eq.x)", [1, 2]),
        (#"and=("n".gte."2",or("t".eq."x","t".is.null))"#, [2]), ("and=(not.or(n.eq.1,n.eq.2))", [3]),
        (#"and=("t".eq."y,z")"#, [3]), ("limit=1&offset=1", [2]), ("order=n.desc", [3, 2, 1]), ("order=t", [1, 2, 3]),
        ("t=like.x", [2]), ("n=eq.x", []), ("and=(not.and(t.eq.x,n.gt.0))", [3]), ("and=(not.or(t.eq.x,n.eq.3))", []),
        ("and=(not.and(t.eq.x,n.gt.1))", [1, 3]), ("or=(not.and(t.neq.x,n.gt.0),n.eq.3)", [2, 3]),
        ("and=(not.and(t.is.null,n.eq.1))", [2, 3]),
    ])
    func `conditions and order are obeyed`(_ query: String, _ expected: [Int64]) {
        send("POST", "/things", [["n": 1], ["n": 2, "t": "x"], ["n": 3, "t": "y,z"]])
        let order = query.contains("order=") ? "" : "&order=n"
        #expect(numbers(query + order) == expected)
    }

    @Test(arguments: [
        ("like.*da*", [1, 3]), ("like.%25da%25", [1, 3]), ("like.Ada*", [1]), ("like.ada*", []), ("ilike.ada*", [1]),
        ("ilike.*DA", [1, 3]), ("like._da", [1, 3]), ("like._", []), ("like.*", [1, 2, 3]), ("like.", []),
        ("like.A*da*", [1]), ("like.*b", [2]), ("ilike.*b*b", [2]), ("like.*b*b", []), (#"like.B\_b"#, [2]),
        (#"like.\_da"#, []),
        ("not.like.*da*", [2]), ("like.Ada", [1]), ("like.da", []),
    ])
    func `patterns match as those of SQL do`(_ condition: String, _ expected: [Int64]) {
        send("POST", "/things", [["n": 1, "t": "Ada"], ["n": 2, "t": "B_b"], ["n": 3, "t": "Ida"], ["n": 4]])
        #expect(numbers("t=\(condition)&order=n") == expected)
    }

    @Test(arguments: ["n=2", "n=eq", "n=is1.2", "and=(n.eq.1", "and=n.eq.1", "or=(n)", "n=in.1", "and=(n.eq.1)x"])
    func `a condition that cannot be read is refused`(_ query: String) {
        send("POST", "/things", ["n": 1])
        let answer = send("GET", "/things?\(query)")
        #expect(answer.status == 400 && answer.json["code"] == "PGRST100")
    }

    @Test func `a part of the rows says which part it is`() {
        send("POST", "/things", [["n": 1], ["n": 2], ["n": 3]])
        let part = send("GET", "/things?limit=2&offset=1&order=n")
        #expect(part.status == 206 && part.headers["Content-Range"] == "1-2/3")
        #expect(send("GET", "/things?limit=3").status == 200)
        #expect(send("GET", "/things?offset=3").headers["Content-Range"] == "*/3")
        #expect(send("GET", "/things?offset=4").json["code"] == "PGRST103")
        #expect(send("GET", "/things?offset=4", nil, ["Prefer": ""]).headers["Content-Range"] == "*/*")
        for query in ["limit=-1", "offset=-1"] {
            let answer = send("GET", "/things?\(query)", nil, ["Prefer": ""])
            #expect(answer.status == 416 && answer.json["code"] == "PGRST103")
        }
    }

    @Test func `a token is looked at first, and only the description goes without`() {
        #expect(send("GET", "/").json["swagger"] == "2.0" && send("GET", "/", token: nil).status == 200)
        #expect(send("GET", "/", token: "other").json["code"] == "PGRST301")
        #expect(send("GET", "/things", token: nil).json["code"] == "42501")
        #expect(send("GET", "/things").json["code"] == "PGRST205" && send("GET", "/a/b").json["code"] == "PGRST125")
        send("POST", "/things", [:])
        #expect(send("TRACE", "/things").status == 405)
    }
}
