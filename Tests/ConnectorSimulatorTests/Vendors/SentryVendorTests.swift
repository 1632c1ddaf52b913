// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct SentryVendorTests {
    private let sentry = SentryVendor.demo()
    private let key = "0123456789abcdef0123456789abcdef"
    private let id = "fedcba9876543210fedcba9876543210"

    /// Sends an envelope with the key in the usual header.
    private func send(_ envelope: String, key: String? = nil, project: String = "1") -> HTTPResponse {
        let auth = "Sentry sentry_key=\(key ?? self.key), sentry_version=7, sentry_client=test/1"
        return sentry.respond(
            to: SimulatedRequest(
                "POST",
                "/api/\(project)/envelope/",
                headers: ["X-Sentry-Auth": auth, "Content-Type": "application/x-sentry-envelope"],
                body: Array(envelope.utf8)
            )
        )
    }

    @Test func `an event is accepted and its id returned`() {
        let event = "{\"event_id\":\"\(id)\",\"message\":\"é\"}"
        let response = send("{\"event_id\":\"\(id)\"}\n{\"type\":\"event\",\"length\":\(event.utf8.count)}\n\(event)\n")
        #expect(response.status == 200)
        #expect(response.json["id"]?.string == id)
    }

    @Test func `items need no length, no last newline and no event`() {
        #expect(send("{}\n{\"type\":\"event\"}\n{\"event_id\":\"\(id)\"}").json["id"]?.string == id)
        #expect(send("{}\n{\"type\":\"session\"}\n{}\n\n{\"type\":\"client_report\"}\n{}\n").status == 200)
        #expect(send("{}").json == [:])
    }

    @Test func `the key may stand in the query or in the envelope`() {
        let item = "{\"type\":\"client_report\"}\n{}\n"
        let query = SimulatedRequest("POST", "/api/1/envelope/?sentry_key=\(key)", body: Array("{}\n\(item)".utf8))
        #expect(sentry.respond(to: query).status == 200)
        let dsn = "{\"dsn\":\"http://\(key)@host:9/path/1\"}\n\(item)"
        #expect(sentry.respond(to: SimulatedRequest("POST", "/api/1/envelope/", body: Array(dsn.utf8))).status == 200)
    }

    @Test func `wrong credentials are refused, each in its way`() {
        let item = "{}\n{\"type\":\"client_report\"}\n{}\n"
        let unknown = send(item, key: String(repeating: "0", count: 32))
        #expect(unknown.status == 403)
        #expect(unknown.json["detail"] == "event submission rejected with_reason: ProjectId")
        #expect(send(item, project: "2").status == 403)
        let malformed = send(item, key: "nokey")
        #expect(malformed.status == 400)
        #expect(malformed.json["detail"] == "bad sentry DSN public key")
        #expect(send(item, project: "x").status == 400)
        let missing = sentry.respond(to: SimulatedRequest("POST", "/api/1/envelope/", body: Array(item.utf8)))
        #expect(missing.status == 401)
        #expect(missing.json["detail"] == "missing authorization information")
        let twice = SimulatedRequest(
            "POST",
            "/api/1/envelope/?sentry_key=\(key)",
            headers: ["X-Sentry-Auth": "Sentry sentry_key=\(key)"],
            body: Array(item.utf8)
        )
        #expect(sentry.respond(to: twice).status == 401)
    }

    @Test func `an envelope without items says nothing about the key`() {
        #expect(send("{}\n", key: String(repeating: "0", count: 32)).status == 200)
    }

    @Test(arguments: [
        "", "{", "[]\n", "{}\n{\"length\":1}\nx", "{}\n{\"type\":\"event\",\"length\":99}\n{}", "{}\nno json\n{}",
        "{}\n{\"type\":\"event\",\"length\":-1}\n{}", "{}\n{\"type\":\"event\",\"length\":1}\n{}\n",
        "{}\n{\"type\":\"event\"}\nno json\n", "{\"event_id\":\"short\"}\n{\"type\":\"event\"}\n{}\n",
    ])
    func `a broken envelope is refused`(envelope: String) {
        let response = send(envelope)
        #expect(response.status == 400)
        #expect(response.json["detail"]?.string != nil)
    }

    @Test func `an event larger than 1 MB is refused`() {
        let text = String(repeating: "x", count: 1 << 20)
        #expect(send("{}\n{\"type\":\"event\"}\n{\"message\":\"\(text)\"}\n").status == 413)
    }

    @Test func `events are stored at the older address, too`() {
        let headers: HTTPFields = ["X-Sentry-Auth": "Sentry sentry_key=\(key), sentry_version=7"]
        let stored = sentry.respond(to: .json("POST", "/api/1/store/", ["event_id": .string(id)], headers: headers))
        #expect(stored.json["id"]?.string == id)
        let fresh = sentry.respond(to: .json("POST", "/api/1/store/", ["message": "m"], headers: headers))
        #expect(fresh.json["id"]?.string?.count == 32)
        let future: HTTPFields = ["X-Sentry-Auth": "Sentry sentry_key=\(key), sentry_version=9"]
        #expect(sentry.respond(to: .json("POST", "/api/1/store/", [:], headers: future)).status == 400)
    }

    @Test(arguments: [
        ("eyJtZXNzYWdlIjoibSJ9", 200), ("eJyrVspNLS5OTE9VslLKVaoFACq2BQ0=", 200), ("bm90IEpTT04=", 400), ("m", 400),
    ])
    func `the older address takes Base64, with or without zlib`(body: String, status: Int) {
        let request = SimulatedRequest("POST", "/api/1/store/?sentry_key=\(key)", body: Array(body.utf8))
        #expect(sentry.respond(to: request).status == status)
    }

    @Test func `key and project are read from a configured DSN`() {
        let vendor = SentryVendor(credentials: AcceptedCredentials([["dsn": "https://abc:secret@host:1/path/7"]]))
        let request = SimulatedRequest.json("POST", "/api/7/store/?sentry_key=abc", ["message": "m"])
        #expect(vendor.respond(to: request).status == 200)
        #expect(SentryVendor.secrets(in: AcceptedCredentials([["dsn": "https://abc@host/7"]])).contains("abc"))
        for dsn in ["", "abc", "://@", "http://@host/1", "http://abc@"] {
            let broken = SentryVendor(credentials: AcceptedCredentials([["dsn": dsn]]))
            #expect(broken.respond(to: request).status >= 400)
        }
    }
}
