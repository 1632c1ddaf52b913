// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHTTPServer

@Suite struct ServerRequestTests {
    @Test(arguments: [
        ("/a/b", "/a/b", ""), ("/a?b=1&c", "/a", "b=1&c"), ("/a?b?c", "/a", "b?c"), ("/a?", "/a", ""), ("?b", "", "b"),
        ("", "", ""), ("/%3F?x=%26", "/%3F", "x=%26"),
    ])
    func `the target is split at its first question mark`(target: String, path: String, query: String) {
        let request = ServerRequest("GET", target)
        #expect(request.path == path)
        #expect(request.query == query)
    }

    @Test func `the media type is lower-cased and stripped of its parameters`() {
        #expect(
            ServerRequest("POST", "/", ["content-type": "Application/JSON; charset=utf-8"]).mediaType
                == "application/json"
        )
        #expect(ServerRequest("POST", "/", ["Content-Type": " text/plain\t"]).mediaType == "text/plain")
        #expect(ServerRequest("POST", "/", ["Content-Type": ""]).mediaType == "")
        #expect(ServerRequest("POST", "/").mediaType == nil)
    }

    @Test(arguments: [
        ("keep-alive", true), ("close", false), ("upgrade,\tClose", false), ("closed", true), ("", true),
    ])
    func `a client may say that a request is its last`(option: String, keeps: Bool) {
        var request = ServerRequest("GET", "/", ["Accept": "close", "Connection": option])
        #expect(request.keepsConnection == keeps)
        request.isOld = true
        #expect(!request.keepsConnection, "a request of HTTP/1.0 always is")
    }
}
