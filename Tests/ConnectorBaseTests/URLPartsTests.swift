// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct URLPartsTests {
    @Test func `a URL is split into its parts`() throws {
        let url = try #require(URLParts("HTTPS://key:pass@API.Example.com:8443/v1?q=1#f"))
        #expect(url.scheme == "https" && url.user == "key:pass" && url.host == "api.example.com" && url.port == 8443)
        #expect(url.rest == "/v1?q=1#f" && url.effectivePort == 8443)
        #expect(url.description == "https://key:pass@api.example.com:8443/v1?q=1#f")
    }

    @Test(arguments: [
        ("http://x", "x", 80, ""), ("https://x", "x", 443, ""), ("http://x:", "x", 80, ""),
        ("http://x?q", "x", 80, "?q"),
        ("http://x#f", "x", 80, "#f"), ("http://x/a@b:c", "x", 80, "/a@b:c"), ("http://a@b@x/", "x", 80, "/"),
        ("http://[::1]:81/", "::1", 81, "/"), ("http://[FE80::1]", "fe80::1", 80, ""),
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, ""),
        ("http://x:65535/", "x", 65535, "/"), ("http://my_service/", "my_service", 80, "/"),
    ])
    func `host, port and rest are found`(text: String, host: String, port: UInt16, rest: String) throws {
        let url = try #require(URLParts(text))
        #expect(url.host == host && url.effectivePort == port && url.rest == rest)
        #expect(URLParts(url.description) == url)
    }

    @Test(arguments: [
        "", "x", "//x", "http:", "http:/x", "http://", "http:///x", "http://:80", "http://u@", "ftp://x",
        "javascript://x",
        "http://x y", "http://x\n", "http://x\u{0}", "http://x\\y", "http://x:0", "http://x:65536", "http://x:8a",
        "http://x:-1",
        "http://x:+80", "http://[::1", "http://[::1]x", "http://[x]", "http://[]", "http://x]", "http://a%20b",
        "http://ä.de",
        "http://x/ä", "http://<x>", "http://x,y", " http://x", "http://*.x",
    ])
    func `anything else is refused`(text: String) {
        #expect(URLParts(text) == nil)
    }

    @Test func `the length is bounded`() {
        #expect(URLParts("http://x/" + String(repeating: "a", count: 8183)) != nil)
        #expect(URLParts("http://x/" + String(repeating: "a", count: 8184)) == nil)
    }
}
