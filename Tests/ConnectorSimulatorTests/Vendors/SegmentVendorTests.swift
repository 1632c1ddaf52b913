// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct SegmentVendorTests {
    private let segment = SegmentVendor.demo()

    @Test(arguments: ["/v1/batch", "/v1/b", "/v1/import"])
    func `a batch is accepted`(path: String) {
        let body: JSONValue = [
            "writeKey": "demo-write-key", "batch": [["type": "track", "event": "e", "userId": "u"]],
        ]
        let response = segment.respond(to: .json("POST", path, body))
        #expect(response.status == 200)
        #expect(response.json == ["success": true])
    }

    @Test(arguments: ["track", "identify", "screen", "page", "group", "alias", "t"])
    func `a single event is accepted with the key in the header`(kind: String) {
        let headers: HTTPFields = ["Authorization": "Basic ZGVtby13cml0ZS1rZXk6"]
        #expect(segment.respond(to: .json("POST", "/v1/\(kind)", ["userId": "u"], headers: headers)).status == 200)
    }

    @Test func `an unknown key is accepted, and a missing one is not`() {
        #expect(segment.respond(to: .json("POST", "/v1/batch", ["writeKey": "other", "batch": []])).status == 200)
        let refused = segment.respond(to: .json("POST", "/v1/batch", ["batch": []]))
        #expect(refused.status == 400)
        #expect(refused.json["code"] == "invalid_request")
    }

    @Test func `an unknown key shows in the settings`() {
        #expect(segment.respond(to: .get("/v1/projects/demo-write-key/settings")).status == 200)
        #expect(segment.respond(to: .get("/v1/projects/other/settings")).status == 404)
    }

    @Test func `a batch or an event that is too large is refused`() {
        let text = JSONValue.string(String(repeating: "x", count: 33_000))
        let event = segment.respond(to: .json("POST", "/v1/batch", ["writeKey": "k", "batch": [["x": text]]]))
        #expect(event.status == 400)
        #expect(event.json["message"]?.string?.contains("32 KB") == true)
        let events = JSONValue.array(Array(repeating: ["x": .string(String(repeating: "x", count: 20_000))], count: 30))
        let batch = segment.respond(to: .json("POST", "/v1/batch", ["writeKey": "k", "batch": events]))
        #expect(batch.status == 400)
        #expect(batch.json["message"]?.string?.contains("500 KB") == true)
    }

    @Test(arguments: ["", "{", "[]", "null", "{\"batch\":1,\"writeKey\":\"k\"}"])
    func `a body that is not a batch is refused`(body: String) {
        let response = segment.respond(to: SimulatedRequest("POST", "/v1/batch", body: Array(body.utf8)))
        #expect(response.status == 400)
        #expect(response.json["message"]?.string != nil)
    }

    @Test func `a client that sends too much is told when to come again`() {
        let refused = segment.failure(status: 429)
        #expect(refused.headers["Retry-After"] == "1" && refused.headers["X-RateLimit-Reset"] == "1")
    }

    @Test func `other paths and verbs are refused`() {
        #expect(segment.respond(to: .get("/v1/batch")).status == 405)
        #expect(segment.respond(to: .get("/")).status == 404)
        #expect(segment.respond(to: .json("POST", "/v1/nothing", [:])).status == 404)
    }
}
