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

    @Test func `an item is accepted under its own id, and the rate limit is told`() throws {
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

    @Test func `an item comes in a form, too`() {
        let token = RollbarVendor.demoCredentials["accessToken"] ?? ""
        func post(_ payload: String) -> HTTPResponse {
            let type: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
            let body = Array("payload=\(PercentCoding.encode(payload))".utf8)
            return server.respond(to: SimulatedRequest("POST", "/api/1/item/", headers: type, body: body))
        }
        let data = #"{"environment":"e","uuid":"u-1","body":{"message":{"body":"m"}}}"#
        #expect(post(#"{"access_token":"\#(token)","data":\#(data)}"#).json["result"]?["uuid"] == "u-1")
        #expect(post(#"{"access_token":"\#(token)","data":{}}"#).status == 422)
        #expect(post(#"{"data":\#(data)}"#).status == 401)
    }

    @Test(arguments: [
        "{}", #"{"environment":"e"}"#, #"{"environment":"e","body":{}}"#,
        #"{"environment":"e","body":{"message":{"body":""}}}"#, #"{"environment":"e","body":{"trace":{}}}"#,
        #"{"environment":"e","level":"fatal","body":{"message":{"body":"m"}}}"#,
        #"{"environment":"e","uuid":"0123456789012345678901234567890123456","body":{"message":{"body":"m"}}}"#,
    ])
    func `an item that cannot be read is refused with a reason`(_ data: String) throws {
        let response = post(data)
        #expect(response.status == 422)
        #expect(try JSONValue(parsing: response.body)["message"]?.string?.hasPrefix("Invalid format") == true)
    }

    @Test func `the token is checked before the item`() {
        #expect(post("{}", token: "other").status == 403)
        #expect(post("{}", token: nil).status == 401)
        #expect(post("{").status == 400)
        #expect(post(#""\#(String(repeating: "x", count: 512 << 10))""#).status == 413)
        #expect(server.respond(to: .get("/api/1/status/ping")).text == "pong")
        #expect(server.respond(to: .get("/api/1/item/")).status == 405)
        #expect(server.respond(to: .get("/api/2/item/")).status == 404)
    }
}
