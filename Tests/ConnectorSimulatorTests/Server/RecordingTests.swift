// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct RecordingTests {
    /// A request of a given size.
    private func request(_ number: Int, bytes: Int = 0) -> RecordedRequest {
        RecordedRequest(
            vendor: number.isMultiple(of: 2) ? "even" : "odd",
            method: "GET",
            path: "/\(number)",
            headers: [:],
            body: Array(repeating: 0, count: bytes),
            status: 200,
            at: noon
        )
    }

    @Test func `the oldest requests are dropped when there are too many`() {
        let recording = Recording(maximumCount: 3, maximumSize: 1 << 20)
        for number in 0..<5 { recording.append(request(number)) }
        #expect(recording.snapshot().requests.map(\.path) == ["/2", "/3", "/4"])
        #expect(recording.snapshot().dropped == 2)
        #expect(recording.snapshot(of: "odd").requests.map(\.path) == ["/3"])
    }

    @Test func `the oldest requests are dropped when they are too large together, all of them if need be`() {
        let recording = Recording(maximumCount: 100, maximumSize: 1000)
        for number in 0..<4 { recording.append(request(number, bytes: 300)) }
        #expect(recording.snapshot().requests.map(\.path) == ["/2", "/3"])
        recording.append(request(9, bytes: 2000))
        #expect(recording.snapshot().requests.isEmpty)
        #expect(recording.snapshot().dropped == 5)
        recording.append(request(1))
        #expect(recording.snapshot().requests.map(\.path) == ["/1"])
    }

    @Test func `credentials are removed from headers, queries and bodies`() {
        let redaction = Redaction(secrets: ["secret", "secret-and-more", ""])
        let request = SimulatedRequest(
            "POST",
            "/a/secret?key=other&q=secret-and-more",
            headers: ["Bugsnag-Api-Key": "abc", "authorization": "Token abc", "X-Other": "secret"],
            body: Array("secret-and-more".utf8)
        )
        #expect(redaction.redact(target: request) == "/a/•••?key=•••&q=•••")
        #expect(redaction.redact(request.fields).map(\.value) == ["•••", "Token •••", "•••"])
        #expect(redaction.redact(request.body) == Array("•••".utf8))
        #expect(redaction.redact([0xFF, 0xFE]) == [0xFF, 0xFE])
    }

    @Test(arguments: [
        "a=%73&token=pass+w%C3%B6rd%2F%22%2Bkey.", "pass%20w%c3%b6rd%2f%22%2bkey.", #"{"a":"pass wörd/\"+key."}"#,
        #"{"a":"pass wörd\/\"+key."}"#, #"pass w\u00f6rd/\"+key."#, #"pass w\u00F6rd/\"+key."#,
        "pass wörd/\"+key.\u{301}",
    ])
    func `a credential is found in every encoding`(_ text: String) {
        let redaction = Redaction(secrets: ["pass wörd/\"+key."])
        let redacted = redaction.redact(text)
        #expect(redacted.unicodeScalars.contains("•") && !redacted.contains("key"))
        #expect(redaction.redact([0xFF] + Array(text.utf8)) == [0xFF] + Array(redacted.utf8))
    }

    @Test(arguments: ["", "u", "us", "user"])
    func `a credential in Base64 is found wherever it stands`(_ name: String) {
        let redaction = Redaction(secrets: ["demo-password~?>"])
        let encoded = Base64.encode(Array("\(name):demo-password~?>:".utf8))
        for text in [encoded, encoded.replacing("+", with: "-").replacing("/", with: "_")] {
            let redacted = redaction.redact(text)
            #expect(redacted.contains("•••"))
            // "password", beginning at each offset within a group of three bytes.
            for part in ["cGFzc3dv", "wYXNzd29", "XBhc3N3"] { #expect(!redacted.contains(part)) }
        }
    }

    @Test func `a compressed body with a credential is not shown`() throws {
        // {"key":"secret"}, as `gzip -n` makes it.
        let body = try #require(Base64.decode("H4sIAAAAAAACA6tWyk6tVLJSKk5NLkotUaoFAKYDnA0QAAAA"))
        #expect(Redaction(secrets: ["secret"]).redact(body) == Array("•••".utf8))
        #expect(Redaction(secrets: ["other"]).redact(body) == body)
        #expect(Redaction(secrets: ["other"]).redact(Array(body.dropLast(9))) == Array("•••".utf8))
    }

    @Test(arguments: ["X-Rollbar-Access-Token", "X-ClickHouse-Key", "x-amz-security-token"])
    func `a field that carries credentials is hidden whatever its value`(_ name: String) {
        let redaction = Redaction(secrets: [])
        #expect(redaction.redact([name: "unknown"]).map(\.value) == ["•••"])
        #expect(redaction.redact(target: .get("/?token_auth=unknown")) == "/?token_auth=•••")
    }
}
