// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Testing

@testable internal import ConnectorKit

/// URLs that can only be extended.
@Suite struct HTTPURLTests {
    @Test(arguments: ["", "example.com", "ftp://example.com", "http://", "http://a b/", "//example.com"])
    func `a text that is not an absolute URL is refused`(_ text: String) {
        #expect(HTTPURL(text) == nil)
    }

    @Test func `segments and items are encoded, so that data cannot break out of them`() throws {
        let url = try #require(HTTPURL("https://example.com/v1/#fragment"))
        let grown = url.appending("a/b", "..?x").with("q", "x&y=z #é").with("none", nil)
        #expect(grown.description == "https://example.com/v1/a%2Fb/..%3Fx?q=x%26y%3Dz%20%23%C3%A9")
    }

    @Test(arguments: [".", ".."])
    func `a dot segment is refused, because encoding cannot protect it`(_ segment: String) throws {
        let url = try #require(HTTPURL("https://example.com/v1"))
        let error = #expect(throws: PluginError.self) {
            try url.appending("users", segment).appending("notes").with("q", "x").check()
        }
        #expect(error?.status == .invalid)
        try url.appending("...", ".a", "a..", "./..").check()
    }

    @Test func `data that looks like a placeholder is encoded, a placeholder is not`() throws {
        let url = try #require(HTTPURL("https://example.com"))
        let grown = url.with("q", "{{secret:key}}").with("key", SecretPlaceholder(field: "key"))
        #expect(grown.description == "https://example.com?q=%7B%7Bsecret%3Akey%7D%7D&key={{secret:key}}")
    }

    @Test func `items are read back`() throws {
        let url = try #require(HTTPURL("https://example.com/?a=1&_token=x%2By+z%3D&bad=%G1"))
        #expect(url.value(of: "_token") == "x+y z=")
        #expect(url.value(of: "bad") == nil)
        #expect(url.value(of: "absent") == nil)
    }

    @Test func `the origin has no path`() throws {
        #expect(try #require(HTTPURL("http://[::1]:80/a/b?c")).origin == "http://[::1]:80")
    }
}
