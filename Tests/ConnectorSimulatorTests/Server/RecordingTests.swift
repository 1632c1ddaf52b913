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

    @Test func `the oldest go when there are too many`() {
        let recording = Recording(maximumCount: 3, maximumSize: 1 << 20)
        for number in 0..<5 { recording.append(request(number)) }
        #expect(recording.snapshot().requests.map(\.path) == ["/2", "/3", "/4"])
        #expect(recording.snapshot().dropped == 2)
        #expect(recording.snapshot(of: "odd").requests.map(\.path) == ["/3"])
    }

    @Test func `the oldest go when they are too large, all of them if need be`() {
        let recording = Recording(maximumCount: 100, maximumSize: 1000)
        for number in 0..<4 { recording.append(request(number, bytes: 300)) }
        #expect(recording.snapshot().requests.map(\.path) == ["/2", "/3"])
        recording.append(request(9, bytes: 2000))
        #expect(recording.snapshot().requests.isEmpty)
        #expect(recording.snapshot().dropped == 5)
        recording.append(request(1))
        #expect(recording.snapshot().requests.map(\.path) == ["/1"])
    }

    @Test func `credentials are taken out of headers, queries and bodies`() {
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
}
