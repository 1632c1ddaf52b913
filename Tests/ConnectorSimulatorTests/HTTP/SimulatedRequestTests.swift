// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct SimulatedRequestTests {
    @Test func `basic credentials are read whatever they contain`() {
        var request = SimulatedRequest.get("/")
        request.fields["authorization"] = "basic dTpwOnc6"
        #expect(request.basicCredentials?.username == "u")
        #expect(request.basicCredentials?.password == "p:w:")
        request.fields["authorization"] = "Basic \(Base64.encode(Array("u:\u{301}p".utf8)))"
        #expect(request.basicCredentials?.username == "u" && request.basicCredentials?.password == "\u{301}p")
        for header in ["Basic", "Basic !", "Bearer dTpw", "Basic bm9jb2xvbg=="] {
            request.fields["Authorization"] = header
            #expect(request.basicCredentials == nil)
        }
    }

    @Test func `a vendor sees a HEAD request as GET, and its target with a leading slash`() {
        let request = SimulatedRequest(ServerRequest("HEAD", "?q=a+b"), receivedAt: noon)
        #expect(request.method == "GET" && request.isHead)
        #expect(request.target == "/?q=a+b" && request.path == "/" && request.query["q"] == "a b")
        #expect(!SimulatedRequest.get("/").isHead)
    }
}
