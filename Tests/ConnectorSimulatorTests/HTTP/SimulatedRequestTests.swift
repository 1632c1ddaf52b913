// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct SimulatedRequestTests {
    @Test func `basic credentials are read whatever they contain`() {
        var request = SimulatedRequest.get("/")
        request.headers["authorization"] = "basic dTpwOnc6"
        #expect(request.basicCredentials?.username == "u")
        #expect(request.basicCredentials?.password == "p:w:")
        for header in ["Basic", "Basic !", "Bearer dTpw", "Basic bm9jb2xvbg=="] {
            request.headers["Authorization"] = header
            #expect(request.basicCredentials == nil)
        }
    }
}
