// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import Testing

@Suite struct HostRuleTests {
    @Test(arguments: [
        ("api.example.com", "api.example.com"), ("API.Example.com:8080", "api.example.com:8080"),
        ("localhost", "localhost"),
        ("*.example.com", "*.example.com"), ("*.example.com:443", "*.example.com:443"), ("10.0.0.1:80", "10.0.0.1:80"),
        ("[::1]", "[::1]"), ("[FE80::1]:8080", "[fe80::1]:8080"), ("my_service", "my_service"),
        ("api.example.com.:80", "api.example.com:80"), ("*.example.com.", "*.example.com"),
    ])
    func `hosts are read`(text: String, expected: String) {
        #expect(HostRule(text)?.description == expected)
    }

    @Test(arguments: [
        "", "*", "*.", "a b", "http://x", "x/y", "x?y", "x#y", "u@x", "x:", "x:0", "x:65536", "x:y", "::1", "[::1",
        ".x", "x..", ".",
        "a..b", "-a", "a-", "*.*.x", "x.*", "*.[::1]", "ä.de", "a%20b", "x\\y", "x\u{0}", "x:+80",
        // A wildcard is for names: these would match addresses.
        "*.0.0.1", "*.1", "*.0.0.1:80", "*.0x7f", "*.0x", "*.a.1",
    ])
    func `what is not a host is refused`(text: String) {
        #expect(HostRule(text) == nil)
    }

    @Test(arguments: [
        ("example.com", "example.com", 443, true), ("example.com", "EXAMPLE.com", 8080, true),
        ("example.com", "example.com.", 80, true), ("example.com", "www.example.com", 443, false),
        ("example.com", "notexample.com", 443, false), ("example.com:443", "example.com", 80, false),
        ("example.com:443", "example.com", 443, true), ("*.example.com", "www.example.com", 1, true),
        ("*.example.com", "a.b.example.com", 1, true), ("*.example.com", "example.com", 1, false),
        ("*.example.com", ".example.com", 1, false), ("*.example.com", "wwwexample.com", 1, false),
        ("[::1]", "::1", 80, true), ("*.example.com:1", "a.example.com", 2, false),
    ])
    func `a rule permits what it names`(rule: String, host: String, port: UInt16, expected: Bool) throws {
        #expect(try #require(HostRule(rule)).permits(host: host, port: port) == expected)
    }
}
