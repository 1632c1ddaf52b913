// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import NIOCore
import Testing

@testable import ConnectorHTTPServer

/// What is read of a connection's bytes, and what is refused.
@Suite struct RequestParserTests {
    /// What bytes hold: the events, and the status of what broke the rules.
    private func read(_ text: String, _ limits: ServerLimits = ServerLimits(), pieces: Int = .max) -> ([String], Int?) {
        var parser = RequestParser(limits)
        var (input, events) = (ByteBuffer(), [String]())
        var rest = Array(text.utf8)[...]
        repeat {
            input.writeBytes(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            do throws(RequestFault) {
                while let event = try parser.next(&input) {
                    switch event {
                    case .head(let head): events.append("\(head.method) \(head.target)")
                    case .body(let bytes): events.append("+\(String(buffer: bytes))")
                    case .end: events.append(".")
                    }
                }
            } catch {
                return (events, error.status)
            }
        } while !rest.isEmpty
        return (events, nil)
    }

    private func status(_ head: String, version: String = "1.1", host: String = "Host: a\r\n") -> Int? {
        read("GET / HTTP/\(version)\r\n\(host)\(head)\r\n").1
    }

    @Test(arguments: [Int.max, 1, 2, 7])
    func `requests are read one after the other, however their bytes arrive`(pieces: Int) {
        let text =
            "\r\nPOST /a?b HTTP/1.1\r\nHost: a:1\r\nContent-Length: 3\r\n\r\nabc"
            + "POST /b HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3;x=\"y\"\r\ndef\r\n1\r\ng\r\n0\r\nTrailer: x\r\n\r\nGET /c HTTP/1.0\r\n\r\n"
        let (events, status) = read(text, pieces: pieces)
        #expect(status == nil)
        let whole = events.reduce(into: [String]()) { joined, event in
            if event.hasPrefix("+"), joined.last?.hasPrefix("+") == true {
                joined[joined.count - 1] += event.dropFirst()
            } else {
                joined.append(event)
            }
        }
        #expect(whole == ["POST /a?b", "+abc", ".", "POST /b", "+defg", ".", "GET /c", "."])
    }

    @Test(arguments: [
        "Host: a\r\n", "host: b\r\n", "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n", "Content-Length: -1\r\n", "Content-Length: 0x1\r\n", "Content-Length: \r\n",
        "Content-Length: 99999999999999999999\r\n", "Content-Length: 1 1\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "X: y\r\n z\r\n", "X: y\r\n\tz\r\n",
        " X: y\r\n",
        "X : y\r\n", "X\r\n", ": y\r\n", "X\u{0}: y\r\n", "X: \u{0}\r\n", "X: a\rb\r\n", "X: y\n", "X: \u{7F}\r\n",
        "Authorization: Bearer a\r\nauthorization: Bearer b\r\n", "Cookie: a=b\r\nCookie: c=d\r\n",
        "Origin: a\r\nOrigin: b\r\n", "Sec-Fetch-Site: a\r\nsec-fetch-site: b\r\n", "X\u{2028}: y\r\n",
    ])
    func `fields that two parsers could read in two ways are refused`(fields: String) {
        #expect(status(fields) == 400)
    }

    @Test func `a request must name one valid host, once`() {
        #expect(status("", host: "") == 400)
        #expect(status("", version: "1.0", host: "") == nil)
        for host in ["a b", "a,b", "a/b", "a@b", "a\tb", "http://a"] {
            #expect(status("", host: "Host: \(host)\r\n") == 400, "\(host)")
        }
        for host in ["", "a", "a:80", "[::1]:80", "xn--a.b-c_d"] {
            #expect(status("", host: "Host: \(host)\r\n") == nil, "\(host)")
        }
    }

    @Test func `unsupported encodings, expectations and versions have statuses of their own`() {
        #expect(status("Transfer-Encoding: gzip, chunked\r\n") == 501)
        #expect(status("Transfer-Encoding: identity\r\n") == 501)
        #expect(status("Transfer-Encoding: chun\u{212A}ed\r\n") == 501, "not every k is ASCII")
        #expect(status("Transfer-Encoding: CHUNKED\r\n") == nil)
        #expect(status("Expect: 200-ok\r\n") == 417)
        #expect(status("Expect: 100-Continue\r\n") == nil)
        #expect(status("Transfer-Encoding: chunked\r\n", version: "1.0") == 400)
        #expect(status("", version: "2.0") == 400)
        #expect(status("", version: "1.2") == 400)
    }

    @Test(arguments: [
        "GET  / HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET /", "G\u{1}T / HTTP/1.1", "GET /\u{0} HTTP/1.1",
        "/ HTTP/1.1",
        "GET / http/1.1", "GET / HTTP/11", "(GET) / HTTP/1.1", "GET\t/\tHTTP/1.1", "GET / / HTTP/1.1",
        String(repeating: "G", count: 33) + " / HTTP/1.1",
    ])
    func `a malformed request line is refused`(line: String) {
        #expect(read("\(line)\r\nHost: a\r\n\r\n").1 == 400)
    }

    @Test func `the beginning of TLS is refused at once, and the client told which scheme to use`() {
        var parser = RequestParser(ServerLimits())
        var input = ByteBuffer(bytes: [22, 3, 1])
        let fault = #expect(throws: RequestFault.self) { try parser.next(&input) }
        #expect(fault?.status == 400 && fault?.reason.contains("http://") == true)
        // After a request, too.
        let (events, status) = read("GET / HTTP/1.1\r\nHost: a\r\n\r\n\u{16}")
        #expect(events == ["GET /", "."] && status == 400)
    }

    @Test(arguments: [
        ("http://a/b?c", "/b?c"), ("HTTPS://A", "/"), ("http://a?b", "/?b"), ("http://a//b", "//b"),
        ("/http://b", "/http://b"), ("ftp://b/", "ftp://b/"), ("*", "*"),
    ])
    func `a target that is a URL of the server is reduced to its path and query`(target: String, path: String) {
        let (events, status) = read("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(events == ["GET \(path)", "."] && status == nil)
    }

    @Test(arguments: ["http://b/", "http://a:80/", "http://", "http:///", "http://u@a/", "http://a#b"])
    func `a target that is a URL of another server is refused`(target: String) {
        #expect(read("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").1 == 400)
    }

    @Test(arguments: [
        "x\r\n", "\r\n", "-1\r\n", "1 1\r\na\r\n", "10000000000000000\r\n", "1\na\r\n", "1\r\nab\r\n", "1\r\na\n",
        ";\r\n",
        "1;a\rb\r\n", "1;\u{0}\r\n", "0\r\n X: y\r\n", "0\r\nX\r\n",
    ])
    func `malformed chunks are refused`(chunks: String) {
        #expect(read("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)").1 == 400)
    }

    @Test func `heads, extensions of chunks and trailers are bounded, complete or not`() {
        let long = String(repeating: "x", count: 70_000)
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        for text in [
            "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n", long, "GET / HTTP/1.1\r\nX: \(long)\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 101) + "\r\n",
            "\(chunked)1;\(long)\r\na\r\n0\r\n\r\n", "\(chunked)1;\(long)",
            chunked + String(repeating: "1;x=y\r\na\r\n", count: 2000) + "0\r\n\r\n",
            "\(chunked)0\r\nX: \(long)\r\n\r\n",
            chunked + "0\r\n" + String(repeating: "X: y\r\n", count: 2000) + "\r\n",
        ] { #expect(read(text).1 == 431, "\(text.prefix(60))") }
        let many = chunked + String(repeating: "1\r\na\r\n", count: 10_000) + "0\r\n\r\n"
        #expect(read(many).1 == nil, "many chunks without extensions are a body like any other")
    }
}
