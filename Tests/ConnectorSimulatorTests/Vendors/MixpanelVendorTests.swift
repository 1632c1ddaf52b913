// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct MixpanelVendorTests {
    private let server = MixpanelVendor.demo()

    private func send(_ target: String, _ body: String, token: String? = nil, type: String = "application/json") throws
        -> HTTPResponse
    {
        let token = try token ?? #require(MixpanelVendor.demoCredentials["token"])
        let authorization = "Basic " + Base64.encode(Array("\(token):".utf8))
        let headers: HTTPFields = ["Authorization": authorization, "Content-Type": type]
        return server.respond(to: SimulatedRequest("POST", target, headers: headers, body: Array(body.utf8)))
    }

    private func event(_ id: String = "m-1", time: String = "1700000000") -> String {
        #"{"event":"a","properties":{"distinct_id":"u","$insert_id":"\#(id)","time":\#(time)}}"#
    }

    @Test func `an import takes what is right, and names what is wrong if it is strict`() throws {
        let events = "[\(event()),\(event("m 2")),\(event(time: "\"x\"")),{}]"
        let strict = try send("/import?strict=1", events)
        let body = try JSONValue(parsing: strict.body)
        #expect(strict.status == 400 && body["num_records_imported"] == 1)
        #expect(body["failed_records"]?.array?.map { $0["index"] } == [1, 2, 3])
        let fields = body["failed_records"]?.array?.map { $0["field"] }
        #expect(fields == ["properties.$insert_id", "properties.time", "event"])
        #expect(try send("/import", events).status == 200)
        #expect(try JSONValue(parsing: send("/import?strict=1", "[]").body)["num_records_imported"] == 0)
    }

    @Test func `an import needs the token, and the other addresses any`() throws {
        #expect(try send("/import?strict=1", "[\(event())]", token: "other").status == 401)
        let profile = #"[{"$token":"other","$distinct_id":"u","$set":{}}]"#
        #expect(try send("/engage", profile, token: "other").text == "1")
        #expect(try send("/groups", profile).text == "0")
        let refused = try JSONValue(parsing: send("/groups?verbose=1", profile).body)
        #expect(refused == ["status": 0, "error": "$group_id, missing or empty"])
    }

    @Test func `a form of an older client is taken`() throws {
        let data = PercentCoding.encode(#"{"event":"a","properties":{"token":"t"}}"#)
        let form = "application/x-www-form-urlencoded"
        #expect(try send("/track", "data=\(data)&verbose=1", type: form).text == #"{"status":1,"error":null}"#)
        #expect(try send("/track", "data=\(data)", type: form).text == "1")
    }

    @Test func `what is too large, not there or not JSON is refused`() throws {
        #expect(try send("/import", String(repeating: " ", count: 2_097_153)).status == 413)
        #expect(
            try send("/import", "[" + Array(repeating: event(), count: 2001).joined(separator: ",") + "]").status == 400
        )
        #expect(try send("/import", "[").status == 400)
        #expect(try send("/nowhere", "[]").status == 404)
        #expect(server.respond(to: .get("/import")).status == 405)
    }
}
