// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct AmplitudeVendorTests {
    private let server = AmplitudeVendor.demo()

    private func upload(_ events: String, key: String? = nil, options: String = "{}", to path: String = "/2/httpapi")
        throws -> (status: Int, body: JSONValue)
    {
        let key = try key ?? #require(AmplitudeVendor.demoCredentials["apiKey"])
        let body = #"{"api_key":"\#(key)","events":\#(events),"options":\#(options)}"#
        let response = server.respond(to: SimulatedRequest("POST", path, body: Array(body.utf8)))
        return (response.status, try JSONValue(parsing: response.body))
    }

    @Test(arguments: ["/2/httpapi", "/batch"])
    func `an upload is answered with the number of its events`(_ path: String) throws {
        let event = #"{"user_id":"user-1","event_type":"a"}"#
        let answer = try upload("[\(event),\(event)]", to: path)
        #expect(answer.status == 200 && answer.body["events_ingested"] == 2)
    }

    @Test func `an upload with invalid events is refused whole, and their positions are told`() throws {
        let answer = try upload(
            #"""
            [{"user_id":"user-1","event_type":"a"}, {"user_id":"u","event_type":"a"}, {"event_type":"a"},
             {"user_id":"user-1","event_type":"a","time":"now"}, {"user_id":"user-1"}]
            """#
        )
        #expect(answer.status == 400)
        #expect(answer.body["events_with_invalid_id_lengths"] == ["user_id": [1]])
        #expect(answer.body["events_with_missing_fields"] == ["event_type": [4], "user_id": [2]])
        #expect(answer.body["events_with_invalid_fields"] == ["time": [3]])
        #expect(try upload(#"[{"user_id":"u","event_type":"a"}]"#, options: #"{"min_id_length":1}"#).status == 200)
    }

    @Test func `a wrong key is refused and quoted, even without events`() throws {
        let answer = try upload("[]", key: "other")
        #expect(answer.status == 400 && answer.body["error"] == "Invalid API key: other")
        #expect(try upload("[]").body["missing_field"] == "events")
    }

    @Test(arguments: [
        ("/identify", "api_key", "identification"), ("/groupidentify", "api_key", "identification"),
        ("/httpapi", "api_key", "event"), ("/", "client", "e"),
    ])
    func `a form is answered with a word`(path: String, key: String, content: String) throws {
        func post(_ key: String?, _ json: String) -> HTTPResponse {
            let text = "\(key.map { "\($0)&" } ?? "")\(content)=\(PercentCoding.encode(json))"
            let type: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
            return server.respond(to: SimulatedRequest("POST", path, headers: type, body: Array(text.utf8)))
        }
        let right = try #require(AmplitudeVendor.demoCredentials["apiKey"])
        let accepted = post("\(key)=\(right)", #"[{"user_id":"user-1"}]"#)
        #expect(accepted.status == 200 && accepted.text == "success")
        #expect(post("\(key)=other", "[]").text == "invalid_api_key")
        #expect(post(nil, "[]").text == "missing_\(key)")
        #expect(post("\(key)=\(right)", "[").status == 400)
        #expect(server.respond(to: .get(path)).status == 405)
    }

    @Test func `a fault names the event that is throttled`() {
        let answer = server.failure(status: nil, code: "throttled", message: nil)
        #expect(answer.status == 429 && answer.json["throttled_events"] == [0])
        #expect(answer.json["error"] == "Too many requests for some devices and users")
        #expect(server.failure(status: 429).json["throttled_events"] == nil)
    }

    @Test func `requests that are too large, to no address or not JSON are refused`() throws {
        let many =
            "[" + Array(repeating: #"{"user_id":"user-1","event_type":"a"}"#, count: 2001).joined(separator: ",") + "]"
        #expect(try upload(many).status == 413)
        #expect(try upload("[").status == 400)
        #expect(server.respond(to: .get("/2/httpapi")).status == 405)
        #expect(server.respond(to: .get("/3/httpapi")).status == 404)
    }
}
