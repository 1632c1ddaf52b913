// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct KintoVendorTests {
    private let kinto = KintoVendor.demo()
    private let records = "/v1/buckets/demo/collections/things/records"

    init() {
        _ = send("PUT", "/v1/buckets/demo/collections/things")
    }

    /// Sends with valid credentials.
    @discardableResult
    private func send(
        _ method: String,
        _ target: String,
        _ data: JSONValue? = nil,
        headers: HTTPFields = [:],
        isHead: Bool = false
    ) -> HTTPResponse {
        var request = SimulatedRequest(method, target, headers: headers, receivedAt: noon)
        request.fields["Authorization"] = "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk"
        request.fields["Content-Type"] = request.fields["Content-Type"] ?? "application/json"
        request.isHead = isHead
        if let data { request.body = JSONValue.object(["data": data]).utf8() }
        return kinto.respond(to: request)
    }

    /// The `n` of every record a query selects.
    private func numbers(_ query: String) -> [Int64?] {
        (send("GET", "\(records)?\(query)").json["data"]?.array ?? []).map { $0["n"]?.integer }
    }

    @Test(arguments: [
        ("If-None-Match", "*", 412), ("If-Match", "*", 200), ("If-Match", "\"1\"", 412),
        ("If-None-Match", "\"1\"", 200),
    ])
    func `reads of what exists, and removals from a list, have preconditions`(
        _ name: String,
        _ value: String,
        _ status: Int
    ) {
        send("PUT", "\(records)/r", ["n": 1])
        let condition = HTTPFields([HTTPField(name: name, value: value)])
        #expect(send("GET", "\(records)/r", headers: condition).status == status)
        #expect(send("GET", records, headers: condition).status == status)
        #expect(send("DELETE", "\(records)?n=2", headers: condition).status == status)
    }

    @Test func `a record is created, read, replaced, changed and deleted`() throws {
        let created = send("POST", records, ["n": 1])
        #expect(created.status == 201)
        let id = try #require(created.json["data"]?["id"]?.string)
        let version = try #require(created.json["data"]?["last_modified"]?.integer)
        #expect(created.headers["ETag"] == "\"\(version)\"")
        #expect(created.json["permissions"] == ["write": ["account:demo"]])
        #expect(send("GET", "\(records)/\(id)").json["data"] == created.json["data"])
        let replaced = send("PUT", "\(records)/\(id)", ["m": 2])
        #expect(replaced.status == 200)
        #expect(replaced.json["data"]?["n"] == nil)
        #expect(send("PATCH", "\(records)/\(id)", ["n": 3]).json["data"]?["m"] == 2)
        let deleted = send("DELETE", "\(records)/\(id)")
        #expect(deleted.json["data"]?["deleted"] == true)
        let missing = send("GET", "\(records)/\(id)")
        #expect(missing.status == 404)
        #expect(missing.json["errno"] == 110)
        #expect(send("PATCH", "\(records)/\(id)", ["n": 3]).status == 404)
        #expect(send("PUT", "\(records)/\(id)", [:]).status == 201)
    }

    @Test func `every change has a later version`() throws {
        let versions = (0..<5).compactMap {
            send("PUT", "\(records)/r\($0)", [:]).json["data"]?["last_modified"]?.integer
        }
        #expect(versions.count == 5)
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
        #expect(send("GET", records).headers["ETag"] == "\"\(versions[4])\"")
    }

    @Test func `a change whose condition does not hold is refused`() throws {
        let version = try #require(send("PUT", "\(records)/r", ["n": 1]).json["data"]?["last_modified"]?.integer)
        let stale = send("PUT", "\(records)/r", ["n": 2], headers: ["If-Match": "\"1\""])
        #expect(stale.status == 412)
        #expect(stale.json["errno"] == 114)
        #expect(stale.json["details"]?["existing"]?["n"] == 1)
        #expect(stale.headers["ETag"] == "\"\(version)\"")
        #expect(send("DELETE", "\(records)/r", headers: ["If-Match": "\"1\""]).status == 412)
        #expect(send("PUT", "\(records)/r", [:], headers: ["If-None-Match": "*"]).status == 412)
        #expect(send("PUT", "\(records)/new", [:], headers: ["If-None-Match": "*"]).status == 201)
        #expect(send("PUT", "\(records)/absent", [:], headers: ["If-Match": "\"1\""]).status == 412)
        #expect(send("PUT", "\(records)/r", [:], headers: ["If-Match": "1"]).status == 400)
        #expect(send("PUT", "\(records)/r", ["n": 2], headers: ["If-Match": "\"\(version)\""]).status == 200)
    }

    @Test func `an unchanged object or list is not sent again`() throws {
        let tag = try #require(send("PUT", "\(records)/r", ["n": 1]).headers["ETag"])
        for target in [records, "\(records)/r"] {
            let response = send("GET", target, headers: ["If-None-Match": tag])
            #expect(response.status == 304)
            #expect(response.body.isEmpty)
            #expect(send("GET", target, headers: ["If-None-Match": "\"1\""]).status == 200)
        }
    }

    @Test func `filters and order are obeyed`() {
        for number in 1...6 {
            let fields: JSONObject = [
                "n": .integer(Int64(number)), "even": .bool(number % 2 == 0), "s": .string("s\(number)"),
                "\u{301}m": .integer(Int64(-number)),
            ]
            send("PUT", "\(records)/r\(number)", .object(fields))
        }
        #expect(numbers("_sort=n&even=true") == [2, 4, 6])
        #expect(numbers("_sort=-n&min_n=2&max_n=4") == [4, 3, 2])
        #expect(numbers("_sort=n&gt_n=2&lt_n=5") == [3, 4])
        #expect(numbers("_sort=-%CC%81m") == [1, 2, 3, 4, 5, 6], "a name that begins with a combining mark")
        #expect(numbers("_sort=n&in_n=1,5,9") == [1, 5])
        #expect(numbers("_sort=n&exclude_n=1,2,3,4") == [5, 6])
        #expect(numbers("_sort=n&not_n=1&not_even=true") == [3, 5])
        #expect(numbers("s=s3") == [3])
        #expect(numbers("like_s=*4") == [4])
        #expect(numbers("id=r2") == [2])
        #expect(numbers("other=1") == [])
        #expect(numbers("") == [6, 5, 4, 3, 2, 1])
        #expect(send("GET", "\(records)?_fields=n&n=1").json["data"]?[0]?["s"] == nil)
    }

    @Test func `values are compared exactly`() {
        send("PUT", "\(records)/a", ["n": 9_007_199_254_740_993, "s": "caf\u{e9}"])
        send("PUT", "\(records)/b", ["n": 1, "s": "cafe\u{301}"])
        #expect(numbers("n=9007199254740992") == [] && numbers("gt_n=9007199254740992") == [9_007_199_254_740_993])
        #expect(numbers("in_n=9007199254740992,1.0") == [1])
        #expect(numbers("s=cafe%CC%81") == [1] && numbers("_sort=s") == [1, 9_007_199_254_740_993])
        for pattern in ["cafe%CC%81", "e%CC%81", "*e%CC%81", "ca*e%CC%81*", "c*f*%CC%81"] {
            #expect(numbers("like_s=\(pattern)") == [1])
        }
        #expect(numbers("like_s=af*").isEmpty == true && numbers("_sort=n&like_s=").count == 2)
    }

    @Test func `pages follow each other and never overlap`() throws {
        for number in 0..<7 { send("PUT", "\(records)/r\(number)", ["n": .integer(Int64(number / 3))]) }
        var target: String? = "\(records)?_limit=2&_sort=n"
        var seen: [String] = []
        while let next = target {
            let response = send("GET", next, headers: ["Host": "host:1"])
            seen += (response.json["data"]?.array ?? []).compactMap { $0["id"]?.string }
            target = response.headers["Next-Page"].map { String($0.dropFirst("http://host:1".count)) }
            #expect(seen.count <= 7)
        }
        #expect(Set(seen).count == 7)
        #expect(send("GET", "\(records)?_limit=2", isHead: true).headers["Total-Records"] == "7")
    }

    @Test func `a dot in a field's name leads into an object, in filters, in the order and across pages`() throws {
        send("PUT", "\(records)/r1", ["n": 1, "a": ["b": 3]])
        send("PUT", "\(records)/r2", ["n": 2, "a.b": 3])
        send("PUT", "\(records)/r3", ["n": 3, "a": ["b": 2]])
        #expect(numbers("a.b=3") == [1] && numbers("in_a.b=3") == [1])
        #expect(numbers("has_a.b=true&_sort=n") == [1, 3])
        #expect(numbers("_sort=a.b") == [3, 1, 2])
        let first = send("GET", "\(records)?_sort=a.b&_limit=1", headers: ["Host": "host:1"])
        #expect(first.json["data"]?[0]?["n"] == 3)
        let next = try #require(first.headers["Next-Page"])
        #expect(send("GET", String(next.dropFirst("http://host:1".count))).json["data"]?[0]?["n"] == 1)
    }

    @Test func `a comparison by order leaves out other types between two ends`() {
        let values: [JSONValue] = [1, 5, "b", "c", nil, true, [2], ["x": 2]]
        for (index, value) in values.enumerated() {
            send("PUT", "\(records)/r\(index)", ["n": .integer(Int64(index)), "z": value])
        }
        send("PUT", "\(records)/lacking", ["n": 99])
        #expect(numbers("_sort=n&gt_z=1") == [1, 5, 6, 7, 99])
        #expect(numbers("_sort=n&gt_z=1&lt_z=false") == [1])
        #expect(numbers("_sort=n&lt_z=5&min_z=-1.7976931348623157e308") == [0])
        #expect(numbers("_sort=n&lt_z=%22c%22&gt_z=null") == [2])
        #expect(numbers("_sort=n&min_z=%22b%22&lt_z=-1.7976931348623157e308") == [2, 3])
    }

    @Test(arguments: [(nil, "122"), (409, nil), (409, "122")] as [(Int?, String?)])
    func `a fault can roll a write back, as PostgreSQL does if another one has its timestamp`(
        _ status: Int?,
        _ code: String?
    ) {
        let response = kinto.failure(status: status, code: code, message: nil)
        #expect(response.status == 409 && response.headers["Retry-After"] == "3")
        #expect(response.json["errno"] == 122 && response.json["error"] == "Conflict")
        #expect(response.json["message"] == "Integrity constraint violated, please retry.")
    }

    @Test func `what was deleted is told to those who ask for changes`() {
        send("PUT", "\(records)/r", [:])
        send("DELETE", "\(records)/r")
        #expect(send("GET", records).json["data"] == [])
        #expect(send("GET", "\(records)?_since=1").json["data"]?[0]?["deleted"] == true)
    }

    @Test func `lists are deleted by filter, and buckets with everything in them`() {
        for number in 1...4 { send("PUT", "\(records)/r\(number)", ["n": .integer(Int64(number))]) }
        #expect(send("DELETE", "\(records)?min_n=3").json["data"]?.array?.count == 2)
        #expect(numbers("_sort=n") == [1, 2])
        send("DELETE", "/v1/buckets/demo")
        #expect(send("GET", records).status == 403)
        send("PUT", "/v1/buckets/demo")
        #expect(send("GET", records).status == 404)
    }

    @Test func `a batch answers each request for itself`() {
        let batch: JSONValue = [
            "defaults": ["method": "PUT"],
            "requests": [
                ["path": .string("\(records)/a"), "body": ["data": ["n": 1]]],
                ["method": "GET", "path": "/buckets/demo/collections/things/records/none"],
            ],
        ]
        var request = SimulatedRequest.json("POST", "/v1/batch", batch)
        request.fields["Authorization"] = "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk"
        let responses = kinto.respond(to: request).json["responses"]
        #expect(responses?[0]?["status"] == 201)
        #expect(responses?[0]?["body"]?["data"]?["n"] == 1)
        #expect(responses?[0]?["headers"]?["ETag"] != nil)
        #expect(responses?[1]?["status"] == 404)
        #expect(responses?[1]?["path"]?.string == "/v1/buckets/demo/collections/things/records/none")
        request.body = JSONValue.object(["requests": .array(Array(repeating: ["path": "/"], count: 26))]).utf8()
        #expect(kinto.respond(to: request).status == 400)
        for path in ["/batch", "/v1/batch", "/v1//batch", "/v1/%62atch"] {
            request.body = JSONValue.object(["requests": [["path": .string(path)]]]).utf8()
            #expect(kinto.respond(to: request).status == 400)
        }
    }

    @Test func `the root tells a valid user from a stranger`() {
        #expect(send("GET", "/v1/").json["user"]?["id"] == "account:demo")
        #expect(kinto.respond(to: .get("/v1/")).json["user"] == nil)
        let wrong = kinto.respond(to: .get("/v1/buckets", headers: ["Authorization": "Basic ZGVtbzp3cm9uZw=="]))
        #expect(wrong.status == 401)
        #expect(wrong.json["errno"] == 104)
        #expect(wrong.headers["WWW-Authenticate"] == "Basic realm=\"Realm\"")
        #expect(send("GET", "/v1").status == 307)
        #expect(send("GET", "/v1/nothing").status == 404)
    }

    @Test(arguments: [(404, 111), (410, 202), (429, 117), (418, 107)] as [(Int, Int64)])
    func `a fault has Kinto's number for its status, and names nothing as missing`(_ status: Int, _ number: Int64) {
        let response = kinto.failure(status: status, code: nil, message: nil)
        #expect(response.status == status && response.json["errno"] == .integer(number))
        #expect(response.json["details"] == nil)
    }

    @Test(arguments: ["_limit=x", "_limit=-1", "_token=x", "_since=x", "min_last_modified=x"])
    func `a wrong parameter is refused`(query: String) {
        let response = send("GET", "\(records)?\(query)")
        #expect(response.status == 400)
        #expect(response.json["errno"] == 107)
    }

    @Test func `a wrong body is refused`() {
        for body in ["{", "[]", "{\"data\":[]}", "{\"other\":1}"] {
            var request = SimulatedRequest("POST", records, body: Array(body.utf8))
            request.fields = ["Authorization": "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk", "Content-Type": "application/json"]
            #expect(kinto.respond(to: request).status == 400)
            request.fields["Content-Type"] = "text/plain"
            #expect(kinto.respond(to: request).status == 415)
        }
        #expect(send("PUT", "\(records)/a%20b", [:]).status == 400)
        #expect(send("PUT", "\(records)/a", ["id": "b"]).status == 400)
        #expect(send("PATCH", records, [:]).status == 405)
    }

    @Test func `fields are removed by a merge patch`() {
        send("PUT", "\(records)/r", ["a": ["b": 1, "c": 2]])
        let merge: HTTPFields = ["Content-Type": "application/merge-patch+json"]
        let merged = send("PATCH", "\(records)/r", ["a": ["b": nil], "d": 3], headers: merge).json["data"]
        #expect(merged?["a"] == ["c": 2])
        #expect(merged?["d"] == 3)
    }

    @Test func `a JSON patch is refused as what the simulator does not implement, and changes nothing`() {
        send("PUT", "\(records)/r", ["a": 1])
        let patch: HTTPFields = ["Content-Type": "application/json-patch+json"]
        for data: JSONValue? in [nil, ["a": 2]] {
            let refused = send("PATCH", "\(records)/r", data, headers: patch)
            #expect(refused.status == 501)
            #expect(refused.json["message"]?.string?.contains("does not implement JSON patches") == true)
        }
        #expect(send("GET", "\(records)/r").json["data"]?["a"] == 1)
    }
}
