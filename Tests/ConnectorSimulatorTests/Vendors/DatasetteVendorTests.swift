// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct DatasetteVendorTests {
    private let server = DatasetteVendor.demo()

    @discardableResult
    private func send(
        _ method: String,
        _ target: String,
        _ body: JSONValue? = nil,
        token: String? = DatasetteVendor.demoCredentials["token"]
    ) -> HTTPResponse {
        var headers = HTTPFields()
        if let token { headers["Authorization"] = "Bearer \(token)" }
        return server.respond(to: SimulatedRequest(method, target, headers: headers, body: body?.utf8() ?? []))
    }

    /// The numbers of the rows that a query finds.
    private func numbers(_ query: String) -> [Int64?]? {
        send("GET", "/demo/things.json?\(query)").json["rows"]?.array?.map { $0["n"]?.integer }
    }

    @Test func `rows are inserted, read, changed and removed, as SQLite keeps them`() {
        let made = send("POST", "/demo/things/-/insert", ["row": ["id": "a/b", "n": 1, "t": true, "l": ["x"]]])
        #expect(made.status == 201)
        #expect(made.json["rows"] == [["id": "a/b", "n": 1, "t": 1, "l": "[\"x\"]"]])
        #expect(send("GET", "/demo/things/a~2Fb.json").json["rows"] == made.json["rows"])
        let again = send("POST", "/demo/things/-/insert", ["row": ["id": "a/b"]])
        #expect(again.status == 400 && again.json["errors"] == ["UNIQUE constraint failed: things.id"])
        let changed = send("POST", "/demo/things/a~2Fb/-/update", ["update": ["n": 2, "l": nil], "return": true])
        #expect(changed.json["rows"] == [["id": "a/b", "n": 2, "t": 1, "l": nil]])
        #expect(send("POST", "/demo/things/a~2Fb/-/delete").json == ["ok": true])
        for action in ["update", "delete"] {
            #expect(send("POST", "/demo/things/a~2Fb/-/\(action)", [:]).json["error"] == "Record not found: ['a/b']")
        }
        #expect(send("GET", "/demo/things/a~2Fb.json").json["error"] == "Row not found")
    }

    @Test(
        arguments: [
            ([1], "JSON must be a dictionary"), ([:], #"JSON must have one or other of "row" or "rows""#),
            (["row": [:], "rows": []], #"Cannot use "row" and "rows" at the same time"#),
            (["row": 1], #""row" must be a dictionary"#), (["rows": 1], #""rows" must be a list"#),
            (["rows": [1]], #""rows" must be a list of dictionaries"#),
            (
                ["rows": .array(Array(repeating: ["n": 1], count: 101))] as JSONValue,
                "Too many rows, maximum allowed is 100"
            ),
            (["row": [:], "two": 1, "one": 1], #"Invalid parameter: "one", "two""#),
        ] as [(JSONValue, String)]
    )
    func `an insert of anything but rows is refused`(_ body: JSONValue, _ message: String) {
        let answer = send("POST", "/demo/things/-/insert", body)
        #expect(answer.status == 400 && answer.json["errors"] == [.string(message)])
        #expect(send("GET", "/demo/things.json").status == 404)
    }

    @Test func `several rows, and a change, are answered only if the request asks for them`() {
        #expect(send("POST", "/demo/things/-/insert", ["rows": [["id": "a"]]]).json == ["ok": true])
        let asked = send("POST", "/demo/things/-/insert", ["rows": [["id": "b"]], "return": true])
        #expect(asked.status == 201 && asked.json["rows"] == [["id": "b"]])
        #expect(send("POST", "/demo/things/a/-/update", ["update": ["n": 1]]).json == ["ok": true])
        for (body, message) in [
            ([:], "JSON must contain an update dictionary"), (["update": 1], "JSON must contain an update dictionary"),
            (["update": ["n": 2], "x": 1], "Invalid keys: x"),
        ] as [(JSONValue, String)] {
            #expect(send("POST", "/demo/things/a/-/update", body).json["error"] == .string(message))
        }
        #expect(numbers("id=a") == [1])
    }

    @Test func `values and names are compared exactly`() {
        let rows: JSONValue = [["id": "\u{e9}", "n": 9_007_199_254_740_993], ["id": "e\u{301}", "n": 1]]
        send("POST", "/demo/things/-/insert", ["rows": rows])
        #expect(numbers("id=e%CC%81") == [1] && numbers("id__lt=%C3%A9") == [1] && numbers("_sort=id")?.first == 1)
        #expect(numbers("n=9007199254740992") == [] && numbers("n__gt=9007199254740992") == [9_007_199_254_740_993])
        #expect(numbers("id__in=%5B%22e%CC%81%22%5D") == [1])
        #expect(send("GET", "/demo/things/e~CC~81.json").json["rows"]?[0]?["n"] == 1)
        send("POST", "/demo/\u{e9}/-/insert", ["row": [:]])
        #expect(send("GET", "/demo/e~CC~81.json").status == 404 && send("GET", "/demo/~C3~A9.json").status == 200)
    }

    @Test(arguments: [
        ("n=2", [2]), ("n__exact=2", [2]), ("n__not=2", [1, 3]), ("n__gt=1&n__lte=2", [2]),
        (#"n__in=[1,"3"]"#, [1, 3]),
        ("t__isnull=1", [1]), ("t__notnull=1", [2, 3]), ("t__not=x", [3]), ("t__gte=x", [2, 3]), ("n__lt=2", [1]),
        ("a__b__exact=z", [3]), ("_size=2", [1, 2]), ("_size=2&_next=2", [3]), ("_sort_desc=n", [3, 2, 1]),
        ("_sort=t", [1, 2, 3]), ("a__b=z", [1, 2, 3]), ("n__b_lt=2", [1, 2, 3]), ("u___lt=6", [2]),
        ("_v__exact=5", [2]), ("_v=5", [1, 2, 3]),
    ])
    func `conditions and order are obeyed, and conditions that Datasette does not know are ignored`(
        _ query: String,
        _ expected: [Int64]
    ) {
        send(
            "POST",
            "/demo/things/-/insert",
            ["rows": [["n": 1], ["n": 2, "t": "x", "u_": 5, "_v": 5], ["n": 3, "t": "y", "a__b": "z"]]]
        )
        #expect(numbers(query) == expected)
    }

    @Test func `a page names the next one, and its size may be the maximum`() {
        send("POST", "/demo/things/-/insert", ["rows": [["n": 1], ["n": 2], ["n": 3]]])
        #expect(send("GET", "/demo/things.json?_size=2").json["next"] == "2")
        #expect(send("GET", "/demo/things.json?_size=3").json["next"] == .some(.null))
        #expect(send("GET", "/demo/things.json?_size=0").json["next"] == .some(.null))
        #expect(numbers("_size=max") == [1, 2, 3] && numbers("_size=&_next=") == [1, 2, 3])
    }

    @Test(arguments: [
        ("_size=1001", "_size must be <= 1000"), ("_size=-1", "_size must be a positive integer"),
        ("_size=many", "_size must be a positive integer"), ("_next=-1", "_next is invalid"),
        ("_next=x", "_next is invalid"),
    ])
    func `an invalid page is refused`(_ query: String, _ message: String) {
        send("POST", "/demo/things/-/insert", ["row": ["n": 1]])
        let answer = send("GET", "/demo/things.json?\(query)")
        #expect(answer.status == 400 && answer.json["error"] == .string(message))
    }

    @Test func `an insert with a duplicate id stores nothing`() {
        let twice = send("POST", "/demo/things/-/insert", ["rows": [["id": "a", "n": 1], ["id": "a", "n": 2]]])
        #expect(twice.status == 400 && twice.json["errors"] == ["UNIQUE constraint failed: things.id"])
        #expect(send("GET", "/demo/things.json").status == 404)
    }

    @Test func `everybody may read, and the token's owner may write`() {
        #expect(send("GET", "/demo.json", token: nil).json["tables"] == [])
        #expect(send("GET", "/-/actor.json").json["actor"]?["id"] == "demo")
        #expect(send("GET", "/-/actor.json", token: "other").json["actor"] == .some(.null))
        #expect(send("GET", "/-/actor.json", token: "dstok_other").status == 401)
        for token in [nil, "other"] {
            #expect(send("POST", "/demo/things/-/insert", ["row": [:]], token: token).status == 403)
        }
        #expect(send("GET", "/other.json").status == 404 && send("GET", "/demo/things.json").status == 404)
        #expect(send("POST", "/demo/things/a/-/update", ["update": [:]]).status == 404)
        #expect(send("GET", "/demo/things").text.hasPrefix("<html>"))
        #expect(send("PUT", "/demo/things.json").status == 404)
    }
}
