// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import Testing

/// The methods of requests.
@Suite struct HTTPMethodTests {
    @Test func `any token is a method, and its case matters`() {
        #expect(HTTPRequest.Method(rawValue: "GET") == .get)
        #expect(HTTPRequest.Method(rawValue: "get") != .get)
        #expect(HTTPRequest.Method(rawValue: "PROPFIND") == .propfind)
        #expect(HTTPRequest.Method(rawValue: "VERSION-CONTROL")?.rawValue == "VERSION-CONTROL")
    }

    @Test(arguments: ["", "A B", "GET\r\nX:", "GET/", "É", "CONNECT", String(repeating: "A", count: 33)])
    func `a method that the host would refuse is refused`(name: String) {
        #expect(HTTPRequest.Method(rawValue: name) == nil)
    }
}
