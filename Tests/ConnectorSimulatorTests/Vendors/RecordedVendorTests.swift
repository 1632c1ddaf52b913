// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorSimulator

/// Answers from a file.
@Suite struct RecordedVendorTests {
    private func vendor(_ answers: String) throws -> RecordedVendor {
        let text = #"{"version": 1, "answers": [\#(answers)]}"#
        return RecordedVendor(
            try SimulatedWorld(parsing: Array(text.utf8), file: "a.json").answers ?? RecordedAnswers()
        )
    }

    private func faults(_ answers: String) -> [String] {
        do {
            _ = try vendor(answers)
            return []
        } catch let faults as SimulatedWorld.Faults {
            return faults.errors.map { "\($0.position?.line ?? 0):\($0.position?.column ?? 0) \($0.message)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `the first answer that matches method and path is given, or else a 404 that names the nearest`()
        throws
    {
        let vendor = try vendor(
            #"{"path": "/a", "method": "post", "status": 201}, {"path": "/a*", "text": "any"}"#
        )
        #expect(vendor.respond(to: SimulatedRequest("POST", "/a?x=1")).status == 201)
        #expect(vendor.respond(to: SimulatedRequest("post", "/a")).status == 201)
        #expect(vendor.respond(to: SimulatedRequest("GET", "/a")).body == Array("any".utf8))
        #expect(vendor.respond(to: SimulatedRequest("POST", "/ab")).status == 200)
        let nearest =
            "no answer is recorded for GET /b; the nearest is answers[1], any method /a*: the path differs"
        let missing = vendor.respond(to: SimulatedRequest("GET", "/b"))
        #expect(missing.status == 404)
        #expect(try JSONValue(parsing: missing.body)["error"] == .string(nearest))
    }

    @Test func `answers are chosen by header, query and body`() throws {
        let vendor = try vendor(
            """
            {"path": "/a", "when": {"headers": {"authorization": "Bearer *"}}, "status": 201},
            {"path": "/a", "when": {"query": {"page": "2", "size": "1*"}}, "status": 202},
            {"path": "/a", "when": {"body": {"user": {"id": 7}}}, "status": 203},
            {"path": "/a", "when": {"body": "grant_type=refresh"}, "status": 204}
            """
        )
        func status(_ target: String, _ headers: HTTPFields = [:], _ body: String = "") -> Int {
            vendor.respond(to: SimulatedRequest("POST", target, headers: headers, body: Array(body.utf8))).status
        }
        #expect(status("/a", ["Authorization": "Bearer x"]) == 201)
        #expect(status("/a", ["Authorization": "Basic x"]) == 404)
        #expect(status("/a?size=10&page=2") == 202)
        #expect(status("/a?size=20&page=2") == 404)
        #expect(status("/a", [:], #"{"user": {"id": 7, "name": "Ada"}, "more": []}"#) == 203)
        #expect(status("/a", [:], #"{"user": {"id": 8}}"#) == 404)
        #expect(status("/a", [:], "no JSON") == 404)
        #expect(status("/a", [:], "a=b&grant_type=refresh") == 204)
    }

    @Test func `of answers that differ in one place of the body, the nearest is the one that differs deepest`() throws {
        let vendor = try vendor(
            """
            {"path": "/a", "when": {"body": {"batch": []}}},
            {"path": "/a", "when": {"body": {"batch": [{"id": "m1", "timestamp": "2026-01-01T00:00:00Z"}]}}}
            """
        )
        let body = #"{"batch": [{"id": "m1", "timestamp": "2026-01-02T00:00:00Z"}]}"#
        let missing = vendor.respond(to: SimulatedRequest("POST", "/a", body: Array(body.utf8)))
        let nearest = try #require(try JSONValue(parsing: missing.body)["error"]?.string)
        #expect(nearest.contains("the nearest is answers[1]"), "\(nearest)")
        #expect(nearest.contains("body batch[0].timestamp"), "\(nearest)")
    }

    @Test func `an answer is given as often as it says, then the next one, each after its delay`() throws {
        let vendor = try vendor(
            #"{"path": "/a", "times": 2, "status": 401}, {"path": "/*", "delay": "250ms"}"#
        )
        let exchanges = (1...4).map { _ in vendor.exchange(for: SimulatedRequest("GET", "/a")) }
        #expect(exchanges.map(\.response.status) == [401, 401, 200, 200])
        #expect(exchanges.map(\.delay) == [.zero, .zero, .milliseconds(250), .milliseconds(250)])
    }

    @Test func `answers are chosen by bytes and by a digest`() throws {
        let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        let vendor = try vendor(
            """
            {"path": "/a", "when": {"base64": "AP8="}, "status": 201},
            {"path": "/a", "when": {"sha256": "\(digest)"}, "status": 202}
            """
        )
        func answer(_ body: [UInt8]) -> HTTPResponse {
            vendor.respond(to: SimulatedRequest("POST", "/a", body: body))
        }
        #expect(answer([0, 0xFF]).status == 201)
        #expect(answer(Array("hello".utf8)).status == 202)
        let missing = answer([0])
        #expect(missing.status == 404)
        let nearest = try JSONValue(parsing: missing.body)["error"]?.string
        #expect(nearest?.hasSuffix("any method /a: the body is \"AA==\", not \"AP8=\"") == true)
    }

    @Test func `an answer may be a failure of the request, which other clients see as 501`() throws {
        let vendor = try vendor(
            """
            {"path": "/a", "error": {"code": "timed-out", "message": "late"}}, {"path": "/b", "error": {"code": "denied"}},
            {"path": "/c", "status": 206, "text": "half", "error": {"code": "unavailable", "message": "cut"}}
            """
        )
        let response = vendor.respond(to: SimulatedRequest("GET", "/a"))
        #expect(response.status == 501)
        #expect(response.failure == RequestFailure(.timedOut, "late", isRetryable: true))
        let other = vendor.respond(to: SimulatedRequest("GET", "/b"))
        #expect(other.failure == RequestFailure(.denied, "simulated", isRetryable: false))
        #expect(HTTPResponse(status: 501).failure == nil)
        let cut = vendor.respond(to: SimulatedRequest("GET", "/c"))
        #expect(cut.status == 206 && cut.text == "half" && cut.failure?.message == "cut")
        #expect(cut.beginning?.failure == nil && response.beginning == nil)
        let found = faults(
            #"{"path": "/", "error": {"code": "lost"}}, {"path": "/", "when": {"base64": "*", "sha256": "AB"}}"#
        )
        #expect(found.count == 3, "\(found)")
        #expect(found.contains { $0.contains("a plugin cannot fail with the code \"lost\"") })
        #expect(found.contains { $0.contains(#"answers[1].when.base64 is "*"; it must be Base64"#) })
        #expect(found.contains { $0.contains(#"answers[1].when.sha256 is "AB"; it must be 64 hexadecimal digits"#) })
        #expect(faults(#"{"path": "/", "base64": 1}"#).contains { $0.contains("must be Base64, not an integer") })
    }

    @Test func `the message of a failure is bounded, as a header field carries it`() throws {
        let limit = RequestFailure.messageLimit
        let longest = String(repeating: "\u{1}", count: limit)
        let failing = try vendor(
            #"{"path": "/a", "error": {"code": "failed", "message": \#(JSONValue.string(longest).serialized())}}"#
        )
        let response = failing.respond(to: SimulatedRequest("GET", "/a"))
        #expect(response.failure?.message == longest)
        let size = response.headers.map { $0.name.utf8.count + $0.value.utf8.count }.reduce(0, +)
        #expect(size < 80 << 10, "what the HTTP client takes of headers")
        let longer = String(repeating: "z", count: limit + 1)
        let found = faults(#"{"path": "/a", "error": {"code": "failed", "message": "\#(longer)"}}"#)
        #expect(
            found.count == 1 && found.first?.contains("answers[0].error.message has more than 8 KiB") == true,
            "\(found)"
        )
    }

    @Test func `every fault is reported at its position`() {
        let found = faults(
            """

            {"path": "x", "times": 0, "delay": "soon"},
            {"method": 1, "when": {"header": {}, "query": {"a": 1}}, "json": 1, "text": ""},
            {"path": "/", "headers": {"a b": "c"}, "delay": "2h", "colour": 1}
            """
        )
        #expect(
            found == [
                "2:10 the path \"x\" must begin with /",
                "2:24 answers[0].times is 0, outside 1 to 1000000",
                "2:36 the delay is \"soon\"; it must be a duration such as \"250ms\" or \"5s\", at most \"1h\"",
                "3:12 answers[1].method must be a string, not an integer",
                "3:1 answers[1].path is missing; it must be a string",
                "3:69 an answer has one of \"json\", \"text\" and \"base64\"",
                "3:24 unknown key \"header\"",
                "3:53 answers[1].when.query.a must be a string, not an integer",
                "4:55 unknown key \"colour\"",
                "4:49 the delay is \"2h\"; it must be a duration such as \"250ms\" or \"5s\", at most \"1h\"",
                "4:34 answers[2].headers.a b must be a string that HTTP allows as a header",
            ]
        )
    }
}
