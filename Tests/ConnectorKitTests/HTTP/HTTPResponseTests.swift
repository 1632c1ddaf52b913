// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

@testable internal import ConnectorKit

/// Responses and the failures that they stand for.
@Suite struct HTTPResponseTests {
    private let now = Timestamp(parsing: "2026-01-31T09:30:00Z") ?? Timestamp(nanoseconds: 0)

    @Test func `an answer may have the deepest value in the envelope of its vendor`() throws {
        func response(_ levels: Int) -> HTTPResponse {
            let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return HTTPResponse(status: 200, headers: [:], body: Array(text.utf8))
        }
        #expect(try response(JSONParser.depthLimit + 8).json().array?.count == 1)
        let error = #expect(throws: PluginError.self) { try response(JSONParser.depthLimit + 9).json() }
        #expect(error?.status == .protocolViolation)
    }

    @Test(arguments: [
        ("7", Duration.seconds(7)), ("0", .zero), ("Sat, 31 Jan 2026 09:30:09 GMT", .seconds(9)),
        ("Sat, 31 Jan 2026 09:29:00 GMT", .zero), ("99999999999", .seconds(31_536_000)),
        ("Thu, 31 Jan 2126 09:30:00 GMT", .seconds(31_536_000)), ("4.5", .seconds(5)),
        ("99999999999999999999", .seconds(31_536_000)), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(31_536_000)),
        ("Saturday, 31-Jan-26 09:30:09 GMT", .seconds(9)),
    ])
    func `a time to wait is read as seconds or as a date`(_ text: String, _ expected: Duration) {
        #expect(HTTPResponse(status: 429, headers: ["retry-after": text]).retryAfter(now: now) == expected)
    }

    @Test(arguments: [("Sat, 31 Jan 2026 11:30:06 GMT", Duration.seconds(3)), ("soon", .seconds(7209))])
    func `a date to wait for is measured from that of the response, whatever the clock says`(
        _ date: String,
        _ expected: Duration
    ) {
        let response = HTTPResponse(
            status: 503,
            headers: ["Date": date, "Retry-After": "Sat, 31 Jan 2026 11:30:09 GMT"]
        )
        #expect(response.retryAfter(now: now) == expected)
    }

    @Test(arguments: ["", "soon", "-1x", "Sat, 31 Foo 2026 09:30:09 GMT", "Sat, 99 Jan 2026 09:30:09 GMT"])
    func `a time to wait that cannot be read is ignored`(_ text: String) {
        #expect(HTTPResponse(status: 429, headers: ["Retry-After": text]).retryAfter(now: now) == nil)
    }

    @Test(arguments: [
        (400, PluginStatus.invalid, false), (401, .unauthorized, false), (402, .unavailable, false),
        (403, .unauthorized, false),
        (404, .notFound, false), (405, .unsupported, false), (407, .unavailable, false), (408, .timedOut, true),
        (409, .conflict, false), (412, .conflict, false), (413, .tooLarge, false), (418, .failed, false),
        (421, .unavailable, true), (425, .unavailable, true), (429, .rateLimited, true), (451, .failed, false),
        (500, .unavailable, true), (501, .unsupported, false), (503, .unavailable, true), (504, .timedOut, true),
        (505, .unavailable, false), (700, .protocolViolation, true),
    ])
    func `every status has one meaning`(_ status: Int, _ expected: PluginStatus, _ isRetryable: Bool) {
        let failure = HTTPResponse(status: status, body: Array("words\n".utf8)).failure(vendor: "acme", now: now)
        #expect(failure.status == expected)
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.message == "acme answered HTTP \(status): words")
        #expect(failure.detail == Int32(status))
    }

    @Test(arguments: [99_999_999_999, -1, Int.min])
    func `a status that an error cannot hold is bounded`(_ status: Int) {
        let response = HTTPResponse(status: status, body: Array("{".utf8))
        #expect(response.failure(vendor: "acme", now: now).detail == Int32(clamping: status))
        #expect(response.foreignAnswer(to: "acme").detail == Int32(clamping: status))
        let syntax = #expect(throws: PluginError.self) { try response.json() }
        #expect(syntax?.detail == Int32(clamping: status))
        let short = HTTPResponse(status: status, headers: ["Content-Length": "2"], body: [1])
        let cut = #expect(throws: PluginError.self) { try short.part(from: 0, count: 1, vendor: "acme") }
        #expect(cut?.detail == Int32(clamping: status))
    }

    @Test func `an answer in a coding that the host does not decode is told by its coding`() {
        let response = HTTPResponse(status: 200, headers: ["Content-Encoding": "br"], body: [0x8B, 0x01])
        let error = #expect(throws: PluginError.self) { try response.json() }
        #expect(error?.status == .protocolViolation && error?.message.contains(#"the content coding "br""#) == true)
    }

    @Test func `a 304 to a request without conditions is no redirect`() {
        let failure = HTTPResponse(status: 304).failure(vendor: "acme", now: now)
        #expect(failure.status == .protocolViolation && failure.isRetryable)
        #expect(failure.message.hasPrefix("an answer for a cache (HTTP 304) came instead of acme's answer"))
    }

    @Test func `a byte order mark before JSON is ignored`() throws {
        #expect(try HTTPResponse(status: 200, body: Array("\u{FEFF}{\"a\":1}".utf8)).json() == ["a": 1])
    }

    @Test(arguments: [(200, true), (302, true), (400, true), (422, true), (404, false), (503, false)])
    func `a web page is somebody else's answer if it would count as success or blame the request`(
        _ status: Int,
        _ isForeign: Bool
    ) {
        let page = HTTPResponse(status: status, headers: ["Retry-After": "9"], body: Array("\n<!DOCTYPE html>".utf8))
        let failure = page.failure(vendor: "acme", words: "", now: now)
        #expect((failure.status == .protocolViolation) == isForeign)
        #expect(failure.message.contains("captive portal") == isForeign)
        #expect((failure.retryAfter == nil) == isForeign)
    }

    @Test func `a 413 that says when to come back is temporary`() {
        let failure = HTTPResponse(status: 413, headers: ["Retry-After": "9"]).failure(vendor: "acme", now: now)
        #expect(failure.status == .tooLarge && failure.isRetryable && failure.retryAfter == .seconds(9))
    }

    @Test func `a web page with 413 is a gateway's limit, within which a smaller request may pass`() {
        let page = HTTPResponse(status: 413, headers: ["Retry-After": "9"], body: Array("<html>".utf8))
        let failure = page.failure(vendor: "acme", now: now)
        #expect(failure.status == .tooLarge && failure.isRetryable)
        #expect(failure.retryAfter == nil && failure.detail == 413)
        #expect(failure.message.hasPrefix("a web page (HTTP 413) came instead of acme's answer; a gateway"))
    }

    @Test(arguments: [
        ("Client sent an HTTP request to an HTTPS server.\n", "https://"),
        ("<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>", "https://"),
        (
            "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head>\n<title>400 Bad Request</title>\n</head><body>\n"
                + "<h1>Bad Request</h1>\n<p>Your browser sent a request that this server could not understand.<br />\n"
                + "Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />\n", "https://"
        ),
        ("Bad Request\r\nThis combination of host and port requires TLS.\r\n", "https://"),
        ("<html>\r\n<head><title>400 No required SSL certificate was sent</title></head>", "client certificate"),
    ])
    func `a server with TLS that refuses a request without it, or without a certificate, is named as such`(
        _ body: String,
        _ words: String
    ) {
        let failure = HTTPResponse(status: 400, body: Array(body.utf8)).failure(vendor: "acme", words: "", now: now)
        #expect(failure.status == .protocolViolation && failure.message.contains(words), "\(failure.message)")
        #expect(!failure.message.contains("captive portal"))
        #expect(HTTPResponse(status: 404, body: Array(body.utf8)).failure(vendor: "acme", now: now).status == .notFound)
    }

    @Test(arguments: [
        ("<html>\r\n<head><title>400 Bad\r\n Request</title>", "400 Bad Request"), ("<HEAD><TITLE>a</TITLE>", "a"),
        ("<html><title></title>", nil), ("<html><title>a", nil), ("<html>", nil),
    ])
    func `a web page has a title, or none`(_ body: String, _ title: String?) {
        #expect(HTTPResponse(status: 400, body: Array(body.utf8)).title == title)
    }

    @Test func `the error of a redirect shows its target, but not the query`() {
        let response = HTTPResponse(status: 307, headers: ["Location": "http://portal.example/login?key=secret"])
        let failure = response.failure(vendor: "acme", now: now)
        #expect(failure.status == .protocolViolation && failure.isRetryable && failure.detail == 307)
        #expect(failure.message.contains("http://portal.example/login;"))
    }

    @Test(arguments: [
        ("text/html", "Sign in", true), ("text/html; charset=utf-8", #" {"a":1}"#, false), ("text/html", "", false),
        ("application/json", "<html>", true), ("", "\u{FEFF}<html>", true), ("text/plain", "OK", false),
    ])
    func `a web page is known by its beginning or by its media type`(_ type: String, _ body: String, _ isPage: Bool) {
        #expect(HTTPResponse(status: 200, headers: ["Content-Type": type], body: Array(body.utf8)).isPage == isPage)
    }

    @Test func `header names are compared without regard to case`() {
        var headers: HTTPFields = ["ETag": "1", "X": "2"]
        #expect(headers["etag"] == "1")
        headers["ETAG"] = "3"
        #expect(headers.fields.count == 2)
        headers["x"] = nil
        #expect(headers.fields.map(\.value) == ["3"])
    }

    @Test func `JSON is written without placeholders and without changing its meaning`() throws {
        let value: JSONValue = ["{{secret:a}}": ["{{{{": "{}", "n": [["a": ["b": [:]]]]]]
        let bytes = value.utf8WithoutPlaceholders()
        #expect(!String(decoding: bytes, as: UTF8.self).contains("{{"))
        #expect(try JSONValue(parsing: bytes) == value)
    }
}
