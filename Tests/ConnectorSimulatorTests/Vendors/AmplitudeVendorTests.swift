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
    func `events are counted`(_ path: String) throws {
        let event = #"{"user_id":"user-1","event_type":"a"}"#
        let answer = try upload("[\(event),\(event)]", to: path)
        #expect(answer.status == 200 && answer.body["events_ingested"] == 2)
    }

    @Test func `all events are refused for those at fault, whose places are told`() throws {
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

    @Test func `another key is refused and quoted, also without events`() throws {
        let answer = try upload("[]", key: "other")
        #expect(answer.status == 400 && answer.body["error"] == "Invalid API key: other")
        #expect(try upload("[]").body["missing_field"] == "events")
    }

    @Test func `what is too large, not there or not JSON is refused`() throws {
        let many =
            "[" + Array(repeating: #"{"user_id":"user-1","event_type":"a"}"#, count: 2001).joined(separator: ",") + "]"
        #expect(try upload(many).status == 413)
        #expect(try upload("[").status == 400)
        #expect(server.respond(to: .get("/2/httpapi")).status == 405)
        #expect(server.respond(to: .get("/3/httpapi")).status == 404)
    }
}
