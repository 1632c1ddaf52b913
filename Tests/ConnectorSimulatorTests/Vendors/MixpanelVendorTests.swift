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

    @Test func `an import takes the valid events, and a strict one names the invalid ones`() throws {
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

    @Test func `an import needs the right token, and the other addresses need any`() throws {
        #expect(try send("/import?strict=1", "[\(event())]", token: "other").status == 401)
        let profile = #"[{"$token":"other","$distinct_id":"u","$set":{}}]"#
        #expect(try send("/engage", profile, token: "other").text == "1")
        #expect(try send("/groups", profile).text == "0")
        let refused = try JSONValue(parsing: send("/groups?verbose=1", profile).body)
        #expect(refused == ["status": 0, "error": "$group_id, missing or empty"])
    }

    @Test(arguments: ["/track", "/import"])
    func `data comes as JSON or Base64, in a form or a query`(_ path: String) throws {
        // In Base64, it has a "+" and a "/".
        let json = #"{"event":"a","properties":{"token":"t","text":"x>>>???"}}"#
        let base64 = Base64.encode(Array(json.utf8))
        #expect(base64.contains("+") && base64.contains("/"))
        let form = "application/x-www-form-urlencoded"
        for data in [PercentCoding.encode(json), PercentCoding.encode(base64), base64] {
            #expect(try send(path, "data=\(data)&verbose=1", type: form).text == #"{"status":1,"error":null}"#)
            #expect(try send("\(path)?verbose=1&ip=1", "data=\(data)", type: form).json == ["status": 1, "error": nil])
            #expect(try send(path, "data=\(data)", type: form).text == "1")
            let token = try #require(MixpanelVendor.demoCredentials["token"])
            #expect(server.respond(to: .get("\(path)?verbose=1&api_key=\(token)&data=\(data)")).json["status"] == 1)
        }
        #expect(try send(path, "data=no%20JSON", type: form).status == 400)
        #expect(try send(path, "verbose=1", type: form).status == 400)
    }

    @Test func `an import takes JSON by lines, and a service account that it knows`() throws {
        let lines = "\(event())\n\(event("m-2"))\n"
        #expect(try send("/import?strict=1", lines, type: "application/x-ndjson").json["num_records_imported"] == 2)
        #expect(try send("/import?strict=1", "\(event())\n{", type: "application/x-ndjson").status == 400)
        let known = MixpanelVendor(credentials: AcceptedCredentials([["token": "t", "username": "u", "secret": "s"]]))
        for (account, status) in [("u:s", 200), ("u:other", 401), ("u:", 401), ("t:", 200)] {
            let headers: HTTPFields = ["Authorization": "Basic " + Base64.encode(Array(account.utf8))]
            let request = SimulatedRequest("POST", "/import?project_id=1", headers: headers, body: Array("[]".utf8))
            #expect(known.respond(to: request).status == status)
        }
    }

    @Test func `requests that are too large, to no address or not JSON are refused`() throws {
        #expect(try send("/import", String(repeating: " ", count: 2_097_153)).status == 413)
        #expect(
            try send("/import", "[" + Array(repeating: event(), count: 2001).joined(separator: ",") + "]").status == 400
        )
        #expect(try send("/import", "[").status == 400)
        #expect(try send("/nowhere", "[]").status == 404)
        #expect(server.respond(to: .get("/import")).status == 405)
    }
}
