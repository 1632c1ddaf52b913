// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct PostHogVendorTests {
    private let posthog = PostHogVendor.demo()
    private let event: JSONValue = ["event": "e", "distinct_id": "d", "properties": [:]]

    @Test(arguments: ["/batch/", "/batch", "/capture/", "/e/", "/i/v0/e/"])
    func `a batch is accepted under every path`(path: String) {
        let response = posthog.respond(to: .json("POST", path, ["api_key": "phc_demo", "batch": [event]]))
        #expect(response.status == 200)
    }

    @Test func `events are accepted in the browser's forms`() {
        let array: JSONValue = [["event": "e", "properties": ["token": "phc_demo"]]]
        #expect(posthog.respond(to: .json("POST", "/e/", array)).status == 200)
        let data = Base64.encode(array.utf8())
        let form = SimulatedRequest(
            "POST",
            "/e/?compression=base64",
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("data=\(PercentCoding.encode(data))".utf8)
        )
        #expect(posthog.respond(to: form).status == 200)
        #expect(posthog.respond(to: .get("/e/?data=\(PercentCoding.encode(data))")).status == 200)
    }

    @Test func `an event without a name is accepted and dropped`() {
        #expect(posthog.respond(to: .json("POST", "/batch/", ["api_key": "phc_demo", "batch": [[:]]])).status == 200)
    }

    @Test(arguments: [
        (JSONValue.string("phc_other"), "invalid_api_key"), ("", "missing_api_key"), (nil, "missing_api_key"),
    ])
    func `a wrong key is refused with a detail`(key: JSONValue, code: String) {
        let response = posthog.respond(to: .json("POST", "/batch/", ["api_key": key, "batch": [event]]))
        #expect(response.status == 401)
        #expect(response.json["code"] == .string(code))
        #expect(response.json["type"] == "authentication_error")
        #expect(response.json["detail"]?.string?.contains("API key") == true)
    }

    @Test func `what cannot be read is refused with a detail`() {
        for body in ["", "{", "\u{1F}\u{8B}"] {
            let response = posthog.respond(to: SimulatedRequest("POST", "/batch/", body: Array(body.utf8)))
            #expect(response.status == 400)
            #expect(response.json["detail"]?.string != nil)
        }
        #expect(posthog.respond(to: .json("POST", "/batch/", ["api_key": "phc_demo", "batch": []])).status == 400)
        #expect(posthog.respond(to: .get("/batch/")).status == 405)
        #expect(posthog.respond(to: .get("/nothing/")).status == 404)
    }

    @Test func `more than 20 MB is refused`() {
        let body = Array(repeating: UInt8(ascii: " "), count: (20 << 20) + 1)
        #expect(posthog.respond(to: SimulatedRequest("POST", "/batch/", body: body)).status == 413)
    }

    @Test func `feature flags tell a good key from a wrong one without a trace`() {
        #expect(
            posthog.respond(to: .json("POST", "/flags/?v=2", ["api_key": "phc_demo", "distinct_id": "d"])).status == 200
        )
        #expect(
            posthog.respond(to: .json("POST", "/flags/?v=2", ["api_key": "other", "distinct_id": "d"])).status == 401
        )
        #expect(posthog.respond(to: .get("/array/phc_demo/config")).status == 200)
        #expect(posthog.respond(to: .get("/array/other/config")).status == 404)
    }
}
