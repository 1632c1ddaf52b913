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

    @Test func `rows are merged by id on request, and only the selected columns are shown`() {
        send("POST", "/things", ["id": "a", "n": 1, "t": "x"])
        let merge: HTTPFields = ["Prefer": "return=representation,resolution=merge-duplicates"]
        #expect(
            send("POST", "/things?select=t,n,m", ["id": "a", "n": 2], merge).json == [["t": "x", "n": 2, "m": nil]]
        )
        #expect(send("GET", "/things?select=n").json == [["n": 2]])
        #expect(send("DELETE", "/things?select=id", nil, ["Accept": row]).json == ["id": "a"])
    }

    @Test func `a list of one empty text is an empty list, as in PostgREST`() {
        for (number, text) in [(1, ""), (2, "x")] as [(Int64, JSONValue)] {
            send("POST", "/things", ["n": .integer(number), "t": text])
        }
        #expect(numbers(#"t=in.("")"#) == [] && numbers("t=in.()") == [])
        #expect(numbers(#"t=in.("","x")"#) == [1, 2] && numbers("t=eq.") == [1])
        #expect(numbers(#"t=not.in.("")"#) == [1, 2])
    }

    @Test func `a request for exactly one row refuses none and several, and changes nothing`() {
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
        (#"and=("t".eq."y,z")"#, [3]), ("limit=1&offset=1", [2]), ("order=n.desc", [3, 2, 1]), ("order=t", [2, 3, 1]),
        ("order=t.desc", [1, 3, 2]), (#"order="t".asc.nullsfirst"#, [1, 2, 3]), ("order=t.desc.nullslast", [3, 2, 1]),
        ("t=is.not_null", [2, 3]), ("t=is.NULL", [1]),
        ("t=like.x", [2]), ("n=eq.x", []), ("and=(not.and(t.eq.x,n.gt.0))", [3]), ("and=(not.or(t.eq.x,n.eq.3))", []),
        ("and=(not.and(t.eq.x,n.gt.1))", [1, 3]), ("or=(not.and(t.neq.x,n.gt.0),n.eq.3)", [2, 3]),
        ("and=(not.and(t.is.null,n.eq.1))", [2, 3]),
    ])
    func `conditions and order are obeyed`(_ query: String, _ expected: [Int64]) {
        send("POST", "/things", [["n": 1, "t": nil], ["n": 2, "t": "x"], ["n": 3, "t": "y,z"]])
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
    func `patterns match as in SQL`(_ condition: String, _ expected: [Int64]) {
        send(
            "POST",
            "/things",
            [["n": 1, "t": "Ada"], ["n": 2, "t": "B_b"], ["n": 3, "t": "Ida"], ["n": 4, "t": nil]]
        )
        #expect(numbers("t=\(condition)&order=n") == expected)
    }

    @Test(arguments: [
        "n=2", "n=eq", "n=is1.2", "and=(n.eq.1", "and=n.eq.1", "or=(n)", "n=in.1", "and=(n.eq.1)x", "n=fts.x", "n=is.1",
        "n=eq(any).{1}", "other.n=eq.1", "order=n.up", "order=other(n)", "limit=x", "select=", "select=n,",
        "select=n::",
        "n->=eq.1",
    ])
    func `a condition that cannot be read is refused`(_ query: String) {
        send("POST", "/things", ["n": 1])
        let answer = send("GET", "/things?\(query)")
        #expect(answer.status == 400 && answer.json["code"] == "PGRST100")
    }

    @Test(
        arguments: [
            ("select=total:n", ["total": 1]), ("select=n::text,m:t::int", ["n": "1", "m": 7]),
            ("select=j->k,j->l->0,j->>k", ["k": "1", "0": "a"]),
            ("select=first:j->l->>0,nothing:j->x->y", ["first": "a", "nothing": nil]),
            ("select=j->l", ["l": ["a"]]), (#"select="a b""#, ["a b": 2]), (#"select=x:"a b""#, ["x": 2]),
            ("select=*,n2:n&j->>k=eq.1", ["id": "r", "n": 1, "t": "7", "j": ["k": 1, "l": ["a"]], "a b": 2, "n2": 1]),
            ("select=t&order=j->k&and=(j->l->>0.eq.a)", ["t": "7"]),
        ] as [(String, JSONValue)]
    )
    func `columns are selected under other names, in other types, and inside of JSON`(
        _ query: String,
        _ expected: JSONValue
    ) {
        send("POST", "/things", ["id": "r", "n": 1, "t": "7", "j": ["k": 1, "l": ["a"]], "a b": 2])
        #expect(
            send("GET", "/things?\(query.replacing(" ", with: "%20").replacing(">", with: "%3E"))").json == [expected]
        )
    }

    @Test(arguments: [
        ("GET", "select=count()", 400, "PGRST123"), ("GET", "select=n.sum()", 400, "PGRST123"),
        ("GET", "select=*,other(*)", 400, "PGRST200"), ("GET", "select=t::int", 400, "22P02"),
        ("GET", "select=t::shape", 400, "42704"), ("DELETE", "limit=1", 400, "PGRST109"),
        ("DELETE", "select=t::int", 400, "22P02"), ("POST", "on_conflict=t", 400, "42P10"),
        ("PUT", "id=eq.r", 405, "PGRST117"),
    ])
    func `what the server does not do is refused, and changes nothing`(
        _ method: String,
        _ query: String,
        _ status: Int,
        _ code: String
    ) {
        send("POST", "/things", ["id": "r", "t": "x"])
        let answer = send(method, "/things?\(query)", ["id": "s"])
        #expect(answer.status == status && answer.json["code"] == .string(code))
        #expect(send("GET", "/things").json == [["id": "r", "t": "x"]])
    }

    @Test func `an answer in another format is refused`() {
        send("POST", "/things", ["n": 1])
        for type in ["text/csv", "application/vnd.pgrst.array+json;nulls=stripped", "application/geo+json"] {
            #expect(send("GET", "/things", nil, ["Accept": type]).json["code"] == "PGRST107")
        }
        for type in ["*/*", "text/csv, application/json;q=0.9", "application/vnd.pgrst.array+json"] {
            #expect(send("GET", "/things", nil, ["Accept": type]).json.array?.count == 1)
        }
    }

    @Test func `rows that are there already may be left alone, and only some columns written`() {
        send("POST", "/things", ["id": "a", "n": 1])
        let ignoring: HTTPFields = ["Prefer": "return=representation,resolution=ignore-duplicates"]
        #expect(
            send("POST", "/things?on_conflict=id", [["id": "a", "n": 2], ["id": "b", "n": 3]], ignoring).json == [
                ["id": "b", "n": 3]
            ]
        )
        #expect(send("POST", "/things", [["n": 5], ["t": "x"]]).json["code"] == "PGRST102")
        let columns = #"columns="id","n""#
        #expect(
            send("POST", "/things?\(columns)", [["id": "c", "n": 5], ["id": "d", "t": "x"]]).json
                == [["id": "c", "n": 5], ["id": "d", "n": nil]]
        )
        #expect(numbers("order=id") == [1, 3, 5, nil])
    }

    @Test func `values are compared exactly`() {
        send("POST", "/\u{e9}", [["id": "\u{e9}", "n": 9_007_199_254_740_993], ["id": "e\u{301}", "n": 1]])
        func ids(_ query: String) -> [JSONValue?]? { send("GET", "/%C3%A9?\(query)").json.array?.map { $0["id"] } }
        #expect(ids("id=eq.e%CC%81") == ["e\u{301}"] && ids("id=in.(%C3%A9)") == ["\u{e9}"])
        #expect(ids("id=lt.%C3%A9") == ["e\u{301}"] && ids("order=id") == ["e\u{301}", "\u{e9}"])
        #expect(ids("n=eq.9007199254740992") == [] && ids("n=gt.9007199254740992") == ["\u{e9}"])
        #expect(ids("n=eq.9007199254740993") == ["\u{e9}"] && ids("n=eq.1.0") == ["e\u{301}"])
        #expect(send("GET", "/e%CC%81").json["code"] == "PGRST205")
    }

    @Test func `a part of the rows states its range`() {
        send("POST", "/things", [["n": 1], ["n": 2], ["n": 3]])
        let part = send("GET", "/things?limit=2&offset=1&order=n")
        #expect(part.status == 206 && part.headers["Content-Range"] == "1-2/3")
        #expect(send("GET", "/things?limit=3").status == 200)
        #expect(send("GET", "/things?offset=3").headers["Content-Range"] == "*/3")
        #expect(send("GET", "/things?offset=4").json["code"] == "PGRST103")
        #expect(send("GET", "/things?offset=4", nil, ["Prefer": ""]).headers["Content-Range"] == "*/*")
        for (range, content) in [("0-1", "0-1/3"), ("1-", "1-2/3"), ("2-9", "2-2/3"), ("x", "0-2/3")] {
            let answer = send("GET", "/things?order=n", nil, ["Range": range, "Range-Unit": "items"])
            #expect(answer.headers["Content-Range"] == content)
        }
        let both = send("GET", "/things?order=n&offset=1&limit=2", nil, ["Range": "0-1"])
        #expect(both.headers["Content-Range"] == "1-1/3")
        for query in ["limit=-1", "offset=-1"] {
            let answer = send("GET", "/things?\(query)", nil, ["Prefer": ""])
            #expect(answer.status == 416 && answer.json["code"] == "PGRST103")
        }
    }

    @Test func `the token is checked first, and only the description and what does not exist need none`() {
        #expect(send("GET", "/").json["swagger"] == "2.0" && send("GET", "/", token: nil).status == 200)
        #expect(send("GET", "/", token: "other").json["code"] == "PGRST301")
        #expect(send("GET", "/things").json["code"] == "PGRST205" && send("GET", "/a/b").json["code"] == "PGRST125")
        #expect(send("GET", "/things", token: nil).json["code"] == "PGRST205")
        #expect(send("POST", "/things", [:], token: nil).json["code"] == "42501")
        send("POST", "/things", [:])
        #expect(send("GET", "/things", token: nil).json["code"] == "42501")
        #expect(send("TRACE", "/things").status == 405 && send("POST", "/rpc/f", [:]).json["code"] == "PGRST202")
    }
}
