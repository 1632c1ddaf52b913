// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHTTPServer
import ConnectorPlatform
import Testing

@testable import ConnectorSimulator

/// etcd's JSON gateway.
@Suite struct EtcdVendorTests {
    /// A server without users.
    private let vendor = EtcdVendor(credentials: AcceptedCredentials([["endpoint": "http://127.0.0.1:2379"]]))

    private static func base64(_ text: String) -> JSONValue { .string(Base64.encode(Array(text.utf8))) }

    private func answer(
        _ path: String,
        _ body: JSONValue,
        headers: HTTPFields = [:],
        of vendor: EtcdVendor? = nil
    ) throws -> (status: Int, json: JSONValue) {
        let request = SimulatedRequest("POST", path, headers: headers, body: body.utf8())
        let response = (vendor ?? self.vendor).respond(to: request)
        return (response.status, try JSONValue(parsing: response.body))
    }

    private func put(_ key: String, _ value: String) throws {
        let answer = try answer("/v3/kv/put", ["key": Self.base64(key), "value": Self.base64(value)])
        #expect(answer.status == 200 && answer.json["header"]?["revision"]?.string != nil)
    }

    /// The keys and values of a range, and its revision.
    private func range(_ body: JSONObject) throws -> (pairs: [String], revision: String?) {
        let json = try answer("/v3/kv/range", .object(body)).json
        let pairs = (json["kvs"]?.array ?? []).map { pair in
            let texts = ["key", "value"].map { name in
                String(decoding: Base64.decode(pair[name]?.string ?? "") ?? [], as: UTF8.self)
            }
            return texts.joined(separator: "=")
        }
        return (pairs, json["header"]?["revision"]?.string)
    }

    private static let all: JSONObject = ["key": base64("app/"), "range_end": base64("app0")]

    @Test func `a large store with no change left to forget still takes a request`() throws {
        var store = EtcdStore()
        for number: UInt8 in 0..<3 {
            _ = try store.change { store throws(EtcdFailure) in
                try store.put([number], [UInt8](repeating: 0, count: EtcdStore.sizeLimit / 4))
            }
        }
        #expect(store.revision == 4)
        try store.compact(to: store.revision)
        #expect(store.events.isEmpty)
        let none = try store.change { store throws(EtcdFailure) in try store.remove(EtcdRange(key: [9], end: nil)) }
        #expect(none.answer.isEmpty && none.events.isEmpty && store.revision == 4)
    }

    @Test func `keys are kept in order with their revisions, and read by range, limit, order and revision`() throws {
        #expect(try range(Self.all).revision == "1")
        for (key, value) in [("app/b", "2"), ("app/a", "1"), ("app/b", "3"), ("other", "4")] { try put(key, value) }
        #expect(try range(Self.all) == (["app/a=1", "app/b=3"], "5"))
        #expect(try range(["key": Self.base64("app/b"), "revision": "2"]).pairs == ["app/b=2"])
        #expect(try range(["key": Self.base64("app/b"), "revision": 3]).pairs == ["app/b=2"])
        var sorted = Self.all
        sorted["sortOrder"] = "DESCEND"
        sorted["limit"] = 1
        #expect(try range(sorted).pairs == ["app/b=3"])
        #expect(try range(["key": "AA==", "rangeEnd": "AA=="]).pairs.count == 3)
        let pair = try answer("/v3/kv/range", ["key": Self.base64("app/b")]).json
        #expect(
            pair["kvs"]?[0] == [
                "key": Self.base64("app/b"), "create_revision": "2", "mod_revision": "4", "version": "2",
                "value": Self.base64("3"),
            ]
        )
        #expect(pair["count"] == "1")
        var counted = Self.all
        counted["count_only"] = true
        let count = try answer("/v3/kv/range", .object(counted)).json
        #expect(count["count"] == "2" && count["kvs"] == nil)
    }

    @Test func `a put may keep the value, and a range may be limited to revisions`() throws {
        for (key, value) in [("app/a", "1"), ("app/b", "2"), ("app/a", "3")] { try put(key, value) }
        #expect(try answer("/v3/kv/put", ["key": Self.base64("app/b"), "ignore_value": true]).status == 200)
        #expect(try range(Self.all) == (["app/a=3", "app/b=2"], "5"))
        for (limits, pairs) in [
            (["min_mod_revision": "5"], ["app/b=2"]), (["max_mod_revision": 4], ["app/a=3"]),
            (["minCreateRevision": "3"], ["app/b=2"]), (["max_create_revision": "2"], ["app/a=3"]),
            (["min_mod_revision": 4, "max_mod_revision": 5, "limit": 1], ["app/a=3"]),
            (["revision": -1], ["app/a=3", "app/b=2"]),
        ] as [(JSONObject, [String])] {
            var body = Self.all
            for member in limits.members { body[member.name] = member.value }
            #expect(try range(body).pairs == pairs)
            #expect(try answer("/v3/kv/range", .object(body)).json["count"] == "2")
        }
        let empty = vendor.respond(to: SimulatedRequest("POST", "/v3/maintenance/status"))
        #expect(empty.status == 200)
    }

    @Test func `a transaction changes its keys in one revision, or runs its alternative if its comparison fails`()
        throws
    {
        let (a, b) = (Self.base64("app/a"), Self.base64("app/b"))
        let transaction: JSONValue = [
            "compare": [["key": a, "target": "CREATE", "result": "EQUAL", "create_revision": "0"]],
            "success": [["requestPut": ["key": a, "value": "MQ=="]], ["request_put": ["key": b, "value": "Mg=="]]],
            "failure": [["requestDeleteRange": ["key": a, "prev_kv": true]], ["requestRange": ["key": b]]],
        ]
        let first = try answer("/v3/kv/txn", transaction).json
        #expect(first["succeeded"] == true && first["header"]?["revision"] == "2")
        #expect(try range(Self.all) == (["app/a=1", "app/b=2"], "2"))
        let second = try answer("/v3/kv/txn", transaction).json
        #expect(second["succeeded"] == nil && second["header"]?["revision"] == "3")
        #expect(second["responses"]?[0]?["response_delete_range"]?["deleted"] == "1")
        #expect(second["responses"]?[1]?["response_range"]?["count"] == "1")
        #expect(try range(Self.all).pairs == ["app/b=2"])
        let nothing = try answer("/v3/kv/deleterange", ["key": a]).json
        #expect(nothing["deleted"] == nil && nothing["header"]?["revision"] == "3")
        for (comparison, isTrue) in [
            (["target": "VALUE", "value": "Mg=="], true),
            (["target": "VALUE", "value": "Mw==", "result": "LESS"], true),
            (["target": "VERSION", "version": "1", "result": "GREATER"], false),
            (["target": "MOD", "mod_revision": "9", "result": "NOT_EQUAL"], true),
            (["target": 2, "modRevision": 2], true),
        ] as [(JSONObject, Bool)] {
            var comparison = comparison
            comparison["key"] = b
            let answer = try answer("/v3/kv/txn", ["compare": [.object(comparison)]]).json
            #expect((answer["succeeded"] == true) == isTrue, "\(comparison)")
        }
    }

    @Test(arguments: [
        ("/v3/kv/put", #"{"value": "MQ=="}"#, 400, "key is not provided"),
        ("/v3/kv/put", #"{"key": "*"}"#, 400, "not Base64"),
        ("/v3/kv/range", "{}", 400, "key is not provided"), ("/v3/kv/range", "[]", 400, "not an object"),
        ("/v3/kv/range", #"{"key": "YQ==", "revision": "99"}"#, 400, "future revision"),
        ("/v3/kv/range", #"{"key": "YQ==", "limit": "x"}"#, 400, "not a number"),
        ("/v3/kv/range", #"{"key": "YQ==", "limit": 1.0}"#, 400, "not a number"),
        ("/v3/kv/range", #"{"key": "YQ==", "sort_order": "UP"}"#, 400, "unknown value"),
        ("/v3/kv/txn", #"{"success": [{}]}"#, 400, "key not found"),
        ("/v3/kv/txn", #"{"success": [{"requestTxn": {}}]}"#, 501, "nested transactions"),
        (
            "/v3/kv/txn", #"{"success": [{"requestPut": {"key": "YQ=="}}, {"requestPut": {"key": "YQ=="}}]}"#, 400,
            "duplicate key"
        ),
        ("/v3/kv/txn", #"{"success": 7}"#, 400, "not an array"),
        ("/v3/kv/compaction", #"{"revision": "99"}"#, 400, "future"),
        ("/v3/kv/put", #"{"key": "YQ==", "value": "MQ==", "ignore_value": true}"#, 400, "value is provided"),
        ("/v3/kv/put", #"{"key": "YQ==", "ignoreValue": true}"#, 400, "key not found"),
        ("/v3/kv/put", #"{"key": "YQ==", "value": "MQ==", "ignore_lease": true}"#, 400, "key not found"),
        ("/v3/kv/put", #"{"key": "YQ==", "lease": 7, "ignore_lease": true}"#, 400, "lease is provided"),
        ("/v3/kv/put", #"{"key": "YQ==", "lease": "7"}"#, 404, "requested lease not found"),
        ("/v3/watch", #"{"create_request": {"key": "YQ==", "watch_id": 7}}"#, 501, "does not implement watch_id"),
        ("/v3/watch", #"{"create_request": {"key": "YQ==", "filters": ["NONE"]}}"#, 400, "unknown value"),
        ("/v3/watch", "{}", 400, "create_request"), ("/v3/lease/grant", "{}", 404, "Not Found"),
        ("/v2/keys", "{}", 404, "Not Found"),
        ("/v3/auth/authenticate", #"{"name": "a", "password": "b"}"#, 400, "authentication is not enabled"),
    ])
    func `an invalid request is refused in etcd's words`(
        path: String,
        body: String,
        status: Int,
        words: String
    ) throws {
        let answer = try answer(path, JSONValue(parsing: body))
        #expect(answer.status == status && answer.json["message"]?.string?.contains(words) == true, "\(answer)")
        #expect(answer.json["code"]?.integer != nil)
    }

    @Test func `a user needs a token, which a wrong password does not get`() throws {
        let vendor = EtcdVendor(credentials: AcceptedCredentials([EtcdVendor.demoCredentials]))
        let read: JSONValue = ["key": "YQ=="]
        #expect(try answer("/v3/kv/range", read, of: vendor).status == 400)
        #expect(try answer("/v3/lease/grant", read, of: vendor).status == 404)
        let wrong = try answer("/v3/auth/authenticate", ["name": "demo", "password": "no"], of: vendor)
        #expect(wrong.status == 400 && wrong.json["message"]?.string?.contains("authentication failed") == true)
        let right = try answer("/v3/auth/authenticate", ["name": "demo", "password": "demo-password"], of: vendor)
        let token = try #require(right.json["token"]?.string)
        #expect(try answer("/v3/kv/range", read, headers: ["Authorization": token], of: vendor).status == 200)
        let stale = try answer("/v3/kv/range", read, headers: ["Authorization": "x.1"], of: vendor)
        #expect(stale.status == 401 && stale.json["code"] == 16)
    }

    /// The lines that a watch sends, until the body has made its changes and the watch has told the last.
    private func lines(of create: JSONObject, count: Int, _ body: () throws -> Void) async throws -> [JSONValue] {
        let request = SimulatedRequest(
            "POST",
            "/v3/watch",
            body: JSONValue.object(["create_request": .object(create)]).utf8()
        )
        let stream = try #require(vendor.exchange(for: request).stream)
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let watching = Task {
            try? await stream(HostTime(ManualHostClock())) { continuation.yield($0) }
            continuation.finish()
        }
        var iterator = lines.makeAsyncIterator()
        var found = [try JSONValue(parsing: try #require(await iterator.next()))]
        try body()
        while found.count < count, let line = await iterator.next() { found.append(try JSONValue(parsing: line)) }
        watching.cancel()
        await watching.value
        return found.map { $0["result"] ?? $0 }
    }

    @Test(
        arguments: [
            ("etcdserver: revision of auth store is old", 400, 3), ("etcdserver: invalid auth token", 401, 16),
        ]
    )
    func `a fault with the words of a refused token has the matching status and code`(
        _ words: String,
        _ status: Int,
        _ code: Int64
    ) throws {
        let response = vendor.failure(status: nil, code: words, message: nil)
        #expect(response.status == status)
        #expect(
            try JSONValue(parsing: response.body)
                == ["error": .string(words), "code": .integer(code), "message": .string(words)]
        )
    }

    @Test func `a watch is told of the changes of its range, from a revision on, one message for each`() async throws {
        try put("app/a", "1")
        try put("app/a", "2")
        var create = Self.all
        create["start_revision"] = "3"
        create["prev_kv"] = true
        let found = try await lines(of: create, count: 3) {
            try put("other", "0")
            _ = try answer("/v3/kv/deleterange", ["key": Self.base64("app/"), "range_end": Self.base64("app0")])
        }
        #expect(found.count == 3 && found.first?["created"] == true)
        #expect(found[1]["events"]?[0]?["kv"]?["mod_revision"] == "3" && found[1]["events"]?[0]?["type"] == nil)
        #expect(found[1]["events"]?[0]?["prev_kv"]?["value"] == Self.base64("1"))
        #expect(found[2]["header"]?["revision"] == "5" && found[2]["events"]?[0]?["type"] == "DELETE")
    }

    @Test func `a watch from a compacted revision is cancelled`() async throws {
        for value in ["1", "2", "3"] { try put("app/a", value) }
        #expect(try answer("/v3/kv/compaction", ["revision": "3"]).status == 200)
        #expect(try answer("/v3/kv/range", ["key": Self.base64("app/a"), "revision": "2"]).json["code"] == 11)
        var create = Self.all
        create["start_revision"] = "2"
        let found = try await lines(of: create, count: 2) {}
        #expect(found.last?["canceled"] == true && found.last?["compact_revision"] == "3")
    }

    @Test func `a store that is changed endlessly forgets old changes, and keeps the last value`() throws {
        for number in 0..<(EtcdStore.eventLimit + 100) { try put("app/a", "\(number)") }
        #expect(try range(Self.all).pairs == ["app/a=\(EtcdStore.eventLimit + 99)"])
        #expect(try answer("/v3/kv/range", ["key": Self.base64("app/a"), "revision": "2"]).json["code"] == 11)
    }
}
