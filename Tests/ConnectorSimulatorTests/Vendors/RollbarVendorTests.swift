// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct RollbarVendorTests {
    private let server = RollbarVendor.demo()

    private func post(_ data: String, token: String? = RollbarVendor.demoCredentials["accessToken"]) -> HTTPResponse {
        var headers = HTTPFields()
        if let token { headers["X-Rollbar-Access-Token"] = token }
        let body = Array(#"{"data":\#(data)}"#.utf8)
        return server.respond(to: SimulatedRequest("POST", "/api/1/item/", headers: headers, body: body))
    }

    private let frames = #"[{"filename":"a"}]"#

    @Test func `an item is taken under its own id, and the rate is told`() throws {
        let trace = #"{"exception":{"class":"A"},"frames":\#(frames)}"#
        for body in [#""trace":\#(trace)"#, #""trace_chain":[\#(trace),\#(trace)]"#, #""message":{"body":"m"}"#] {
            let response = post(#"{"environment":"e","uuid":"u-1","level":"critical","body":{\#(body)}}"#)
            #expect(response.status == 200 && response.headers["X-Rate-Limit-Remaining"] == "4999")
            #expect(try JSONValue(parsing: response.body)["result"]?["uuid"] == "u-1")
        }
        let body = #"{"access_token":"\#(RollbarVendor.demoCredentials["accessToken"] ?? "")","data":{}}"#
        let old = server.respond(to: SimulatedRequest("POST", "/api/1/item/", body: Array(body.utf8)))
        #expect(old.status == 422)
    }

    @Test(arguments: [
        "{}", #"{"environment":"e"}"#, #"{"environment":"e","body":{}}"#,
        #"{"environment":"e","body":{"message":{"body":""}}}"#, #"{"environment":"e","body":{"trace":{}}}"#,
        #"{"environment":"e","level":"fatal","body":{"message":{"body":"m"}}}"#,
        #"{"environment":"e","uuid":"0123456789012345678901234567890123456","body":{"message":{"body":"m"}}}"#,
    ])
    func `an item that cannot be read is refused with words`(_ data: String) throws {
        let response = post(data)
        #expect(response.status == 422)
        #expect(try JSONValue(parsing: response.body)["message"]?.string?.hasPrefix("Invalid format") == true)
    }

    @Test func `the token is looked at before the item`() {
        #expect(post("{}", token: "other").status == 403)
        #expect(post("{}", token: nil).status == 401)
        #expect(post("{").status == 400)
        #expect(post(#""\#(String(repeating: "x", count: 512 << 10))""#).status == 413)
        #expect(server.respond(to: .get("/api/1/status/ping")).text == "pong")
        #expect(server.respond(to: .get("/api/1/item/")).status == 405)
        #expect(server.respond(to: .get("/api/2/item/")).status == 404)
    }
}
