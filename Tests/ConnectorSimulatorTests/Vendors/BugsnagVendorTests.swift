// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct BugsnagVendorTests {
    private let bugsnag = BugsnagVendor.demo()
    private let headers: HTTPFields = [
        "Bugsnag-Api-Key": "0123456789abcdef0123456789abcdef", "Bugsnag-Payload-Version": "4.0",
    ]
    private let report: JSONValue = [
        "notifier": ["name": "n", "version": "1", "url": "u"],
        "events": [["exceptions": [["errorClass": "E", "message": "m", "stacktrace": []]]]],
    ]

    @Test func `a report is accepted with the key in the header or the body`() {
        #expect(bugsnag.respond(to: .json("POST", "/", report, headers: headers)).status == 200)
        var body = report.object ?? JSONObject()
        body["apiKey"] = "0123456789abcdef0123456789abcdef"
        #expect(bugsnag.respond(to: .json("POST", "/", .object(body))).status == 200)
    }

    @Test func `sessions are accepted`() {
        let sessions: JSONValue = ["notifier": [:], "sessionCounts": [["startedAt": "x", "sessionsStarted": 1]]]
        #expect(bugsnag.respond(to: .json("POST", "/sessions", sessions, headers: headers)).status == 202)
        #expect(bugsnag.respond(to: .json("POST", "/", sessions, headers: headers)).status == 202)
    }

    @Test func `a missing or unknown key is refused`() {
        #expect(bugsnag.respond(to: .json("POST", "/", report)).status == 401)
        let other: HTTPFields = ["Bugsnag-Api-Key": "ffffffffffffffffffffffffffffffff"]
        #expect(bugsnag.respond(to: .json("POST", "/", report, headers: other)).status == 401)
    }

    @Test func `a report that lacks something is refused with a list`() {
        let response = bugsnag.respond(to: .json("POST", "/", ["events": [[:]]], headers: headers))
        #expect(response.status == 400)
        #expect(response.json["errors"]?.array?.count == 2)
        #expect(bugsnag.respond(to: .json("POST", "/", [:], headers: headers)).status == 400)
        #expect(bugsnag.respond(to: SimulatedRequest("POST", "/", headers: headers, body: [1])).status == 400)
    }

    @Test func `more than 1 MB is refused`() {
        let body = Array(repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        #expect(bugsnag.respond(to: SimulatedRequest("POST", "/", headers: headers, body: body)).status == 413)
    }
}
