// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Where requests may go.
@Suite struct EgressListTests {
    @Test(arguments: [
        ("api.example.com", "https://api.example.com/x", true),
        ("api.example.com", "https://API.example.com:8443", true),
        ("api.example.com", "https://example.com", false), ("api.example.com", "https://xapi.example.com", false),
        ("api.example.com:443", "https://api.example.com", true),
        ("api.example.com:443", "http://api.example.com", false),
        ("*.example.com", "https://a.example.com", true), ("*.example.com", "https://a.b.example.com", true),
        ("*.example.com", "https://example.com", false), ("*.example.com", "https://evilexample.com", false),
        ("*", "http://anything:1", true), ("[::1]:80", "http://[::1]/", true), ("::1", "http://[::1]:9/", false),
        ("127.0.0.1", "http://2130706433/", false), ("", "http://a/", false), ("*.*", "http://a.b/", false),
    ])
    func `an entry allows what it says`(entry: String, url: String, isAllowed: Bool) throws {
        let url = try #require(URLParts(url))
        #expect(EgressList([entry]).allows(url) == isAllowed)
    }

    @Test func `the refusal of a simulated connector's request does not ask for what its file may have`() throws {
        let url = try #require(URLParts("https://api.example.com/"))
        let real = #expect(throws: ServiceFailure.self) { try EgressList(["127.0.0.1:1"]).check(url) }
        #expect(real?.message.contains(#"to allow it, add "allow": {"hosts": ["api.example.com"]}"#) == true)
        #expect(real?.message.contains("every other host that it needs") == true)
        let simulated = #expect(throws: ServiceFailure.self) {
            try EgressList(["127.0.0.1:1"], isSimulated: true).check(url)
        }
        #expect(simulated?.message.contains("\"allow\"") == false)
        #expect(simulated?.message.contains("reaches only its simulation") == true)
    }

    @Test func `an empty list allows nothing`() throws {
        #expect(try !EgressList([]).allows(#require(URLParts("http://localhost/"))))
    }
}
