// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct PostHogVendorTests {
    private let posthog = PostHogVendor.demo()
    private let event: JSONValue = ["event": "e", "distinct_id": "d", "properties": [:]]

    @Test(arguments: ["/batch/", "/batch", "/capture/", "/e/", "/i/v0/e/", "/i/v0/ai/batch/"])
    func `a batch is accepted under every path`(path: String) {
        let response = posthog.respond(to: .json("POST", path, ["api_key": "phc_demo", "batch": [event]]))
        #expect(response.status == 200)
    }

    @Test func `events are accepted in the browser's forms`() {
        let array: JSONValue = [["event": "x>>>", "properties": ["token": "phc_demo", "distinct_id": "d"]]]
        #expect(posthog.respond(to: .json("POST", "/e/", array)).status == 200)
        let data = Base64.encode(array.utf8())
        #expect(data.contains("+"))
        // Some clients do not escape the "+".
        for value in [PercentCoding.encode(data), data] {
            let form = SimulatedRequest(
                "POST",
                "/e/?compression=base64",
                headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array("data=\(value)".utf8)
            )
            #expect(posthog.respond(to: form).status == 200)
        }
        #expect(posthog.respond(to: .get("/e/?data=\(PercentCoding.encode(data))")).status == 200)
    }

    @Test(
        arguments: [
            (["distinct_id": "d"], "event submitted with an empty event name"),
            (["event": "", "distinct_id": "d"], "event submitted with an empty event name"),
            (["event": "e"], "event submitted without a distinct_id"),
            (["event": "e", "distinct_id": ""], "event submitted without a distinct_id"),
        ] as [(JSONValue, String)]
    )
    func `a batch with an event without a name or a person is refused`(faulty: JSONValue, text: String) {
        let batch: JSONValue = ["api_key": "phc_demo", "batch": [event, faulty]]
        let response = posthog.respond(to: .json("POST", "/batch/", batch))
        #expect(response.status == 400 && response.text == text)
    }

    @Test func `an event that is too large for the queue is refused`() {
        func status(_ count: Int) -> (Int, String) {
            let text = JSONValue.string(String(repeating: "\"", count: count))
            let large: JSONValue = ["event": "e", "distinct_id": "d", "properties": ["text": text]]
            let batch: JSONValue = ["api_key": "phc_demo", "batch": [event, large]]
            let response = posthog.respond(to: .json("POST", "/batch/", batch))
            return (response.status, response.text)
        }
        // A quotation mark has four bytes in the queue.
        #expect(status(240_000).0 == 200)
        #expect(status(250_000) == (400, "maximum event size exceeded"))
    }

    @Test func `a person is a number, or among the properties, and an update of one has no name`() {
        for event: JSONValue in [
            ["event": "e", "distinct_id": 7], ["event": "e", "distinct_id": nil, "properties": ["distinct_id": "d"]],
        ] {
            let response = posthog.respond(to: .json("POST", "/batch/", ["api_key": "phc_demo", "batch": [event]]))
            #expect(response.status == 200)
        }
        let update: JSONValue = ["token": "phc_demo", "distinct_id": "d", "$set": ["a": 1]]
        #expect(posthog.respond(to: .json("POST", "/engage/", update)).status == 200)
    }

    @Test(arguments: ["/flags/definitions?token=phc_demo&send_cohorts", "/api/feature_flag/local_evaluation/"])
    func `a client with a personal key gets definitions of flags, of which there are none`(_ target: String) {
        let headers: HTTPFields = ["Authorization": "Bearer phx_demo"]
        let response = posthog.respond(to: .get(target, headers: headers))
        #expect(response.json == ["flags": [], "group_type_mapping": [:], "cohorts": [:]])
        #expect(posthog.respond(to: .get(target)).status == 401)
        #expect(posthog.respond(to: .get("/flags/definitions?token=other", headers: headers)).status == 401)
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

    @Test func `a request that cannot be read is refused with a detail`() {
        for body in ["", "{", "\u{1F}\u{8B}"] {
            let response = posthog.respond(to: SimulatedRequest("POST", "/batch/", body: Array(body.utf8)))
            #expect(response.status == 400)
            #expect(response.json["detail"]?.string != nil)
        }
        let empty = posthog.respond(to: .json("POST", "/batch/", ["api_key": "phc_demo", "batch": []]))
        #expect(empty.status == 400 && empty.text == "request holds no event")
        #expect(posthog.respond(to: .get("/batch/")).status == 405)
        #expect(posthog.respond(to: .get("/nothing/")).status == 404)
    }

    @Test func `more than 20 MB is refused`() {
        let body = Array(repeating: UInt8(ascii: " "), count: (20 << 20) + 1)
        #expect(posthog.respond(to: SimulatedRequest("POST", "/batch/", body: body)).status == 413)
    }

    @Test func `feature flags tell a valid key from a wrong one without leaving a trace`() {
        #expect(
            posthog.respond(to: .json("POST", "/flags/?v=2", ["api_key": "phc_demo", "distinct_id": "d"])).status == 200
        )
        #expect(
            posthog.respond(to: .json("POST", "/flags/?v=2", ["api_key": "other", "distinct_id": "d"])).status == 401
        )
        #expect(posthog.respond(to: .get("/array/phc_demo/config")).status == 200)
        #expect(posthog.respond(to: .get("/array/other/config")).status == 404)
        // The browser library asks for a script first, and then for the JSON.
        #expect(posthog.respond(to: .get("/array/phc_demo/config.js")).status == 404)
    }
}
