// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

@testable internal import ConnectorKit

/// What counts as a vendor's answer.
@Suite struct VendorAnswerTests {
    private let answer = VendorAnswer(
        "acme",
        statuses: 200...201,
        [.object(#"with "id""#) { $0["id"] != nil }, .text("OK")]
    )

    private func body(_ status: Int, _ text: String, of answer: VendorAnswer) throws(PluginError) -> JSONValue {
        let response = HTTPResponse(status: status, body: Array(text.utf8))
        return try answer.body(of: response) { PluginError(.invalid, "refused with \($0.status)", isRetryable: false) }
    }

    @Test(arguments: [
        (200, #"{"id":1,"more":2}"#, ["id": 1, "more": 2] as JSONValue), (201, "ok", .null),
        (200, "OK 127.0.0.1\n", .null),
    ])
    func `an answer may have any of its declared forms`(_ status: Int, _ text: String, _ expected: JSONValue) throws {
        #expect(try body(status, text, of: answer) == expected)
    }

    @Test(arguments: [
        (200, "", #"acme answers an object with "id" or "OK", not HTTP 200 with nothing"#),
        (204, "", #"acme answers HTTP 200 to 201 with an object with "id" or "OK", not HTTP 204 with nothing"#),
        (200, "{}", #"not HTTP 200 with "{}""#),
        (200, "[1]", #"not HTTP 200 with "[1]""#), (202, #"{"id":1}"#, "not HTTP 202"),
        (200, #"{"id":"#, #"is not JSON at 1:7"#), (200, "Okay", "is not JSON"),
        (200, "<html>", "a web page (HTTP 200)"),
        (302, #"{"id":1}"#, "a redirect (HTTP 302)"),
    ])
    func `any other answer breaks the protocol, and may be tried again`(_ status: Int, _ text: String, _ words: String)
    {
        let error = #expect(throws: PluginError.self) { try body(status, text, of: answer) }
        #expect(error?.status == .protocolViolation)
        #expect(error?.isRetryable == true)
        #expect(error?.detail == Int32(status))
        #expect(error?.domain == "acme" && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [400, 404, 503, 700])
    func `a status of failure is the vendor's refusal`(_ status: Int) {
        let error = #expect(throws: PluginError.self) { try body(status, "{}", of: answer) }
        #expect(error?.message == "refused with \(status)")
    }

    @Test(arguments: [
        (400, #"{"error":"bad"}"#, true), (422, #"{"error":"bad"}"#, true), (404, "{}", true),
        (400, #"{"message":"no route"}"#, false), (422, "Bad Request", false), (400, "", false),
        (400, "<html>", false), (500, "Bad Request", true), (413, #"{"error":"large"}"#, true),
        (413, "Payload Too Large", false), (413, "", false),
    ])
    func `a refusal counts only in the vendor's words`(_ status: Int, _ text: String, _ isVendors: Bool) {
        let answer = VendorAnswer("acme", [.json], isRefusal: { (try? $0.json())?["error"] != nil })
        let error = #expect(throws: PluginError.self) { try body(status, text, of: answer) }
        #expect((error?.message == "refused with \(status)") == isVendors)
        let foreign: PluginStatus = status == 413 ? .tooLarge : .protocolViolation
        #expect(isVendors || error?.status == foreign && error?.isRetryable == true)
        let response = HTTPResponse(status: status, body: Array(text.utf8))
        #expect(answer.isRefusal(response) == (isVendors && status < 500 && status != 404))
    }

    @Test(arguments: [
        (#"{"error":"bad"}"#, true), (#"{"message":"bad","code":7}"#, true), ("Bad Request", false), ("", false),
        ("[]", false), (#"{"message":"Bad Request"}"#, false), (#"{"message":"no Route","request_id":"1"}"#, false),
        (#"{"type":"about:blank","title":"Bad Request","status":400,"detail":"no"}"#, false),
        (#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, false),
    ])
    func `of a vendor whose words are not known, a refusal is JSON in no gateway's form`(
        _ text: String,
        _ isVendors: Bool
    ) {
        for status in [400, 413, 422] {
            let error = #expect(throws: PluginError.self) { try body(status, text, of: VendorAnswer("acme", [.empty])) }
            #expect((error?.message == "refused with \(status)") == isVendors)
        }
    }

    @Test(arguments: [("OK", true), ("ok\r\n", true), ("OK welcome to the hotel", false), ("OK<br>", false)])
    func `a web page is the word that a vendor answers if it has nothing else`(_ text: String, _ isAnswer: Bool) {
        let page = HTTPResponse(status: 200, headers: ["Content-Type": "text/html"], body: Array(text.utf8))
        let body = try? answer.body(of: page) { _ in PluginError(.failed, "refused") }
        #expect((body == JSONValue.null) == isAnswer)
    }

    @Test(arguments: [
        ("{}", true), ("\u{FEFF}{\"message\":\"none\"}", true), ("", false), ("404 page not found\n", false),
        ("<html><title>404 Not Found</title>", false), ("[]", false),
    ])
    func `a vendor that answers JSON says in JSON what is missing`(_ text: String, _ isVendors: Bool) {
        for status in [404, 410] {
            let json = #expect(throws: PluginError.self) { try body(status, text, of: VendorAnswer("acme", [.json])) }
            #expect((json?.message == "refused with \(status)") == isVendors)
            #expect(isVendors || json?.status == .protocolViolation && json?.isRetryable == true)
            #expect(isVendors || json?.message.contains("no server for it") == true && json?.detail == Int32(status))
            let other = #expect(throws: PluginError.self) { try body(status, text, of: answer) }
            #expect(other?.message == "refused with \(status)")
        }
    }

    @Test(arguments: [(#"{"code":5}"#, true), (#"{"message":"no Route matched"}"#, false), ("<html>", false)])
    func `an adapter that knows its vendor's words for what is missing takes no others`(
        _ text: String,
        _ isVendors: Bool
    ) {
        let answer = VendorAnswer("acme", [.json], isMissing: { (try? $0.json())?["code"] != nil })
        let error = #expect(throws: PluginError.self) { try body(404, text, of: answer) }
        #expect((error?.message == "refused with 404") == isVendors)
        #expect(isVendors || error?.status == .protocolViolation)
    }

    @Test func `a server that speaks TLS refuses for nobody, and the error says what to write`() {
        let error = #expect(throws: PluginError.self) {
            try body(400, "Client sent an HTTP request to an HTTPS server.\n", of: answer)
        }
        #expect(error?.status == .protocolViolation && error?.message.contains("begin with https://") == true)
    }

    @Test func `an answer with the wrong status is told the right one`() {
        let error = #expect(throws: PluginError.self) {
            try body(204, "", of: VendorAnswer("acme", statuses: 202...202, [.empty]))
        }
        #expect(error?.message == "acme answers HTTP 202 with nothing, not HTTP 204 with nothing")
    }

    @Test func `an answer may be empty, or an array whose every element is checked`() throws {
        #expect(try body(204, "", of: VendorAnswer("acme", statuses: 204...204, [.empty])) == .null)
        let list = VendorAnswer("acme", [.array("of numbers") { $0.integer != nil }])
        #expect(try body(200, "[1,2]", of: list) == [1, 2])
        #expect(throws: PluginError.self) { try body(200, #"[1,"2"]"#, of: list) }
    }
}
