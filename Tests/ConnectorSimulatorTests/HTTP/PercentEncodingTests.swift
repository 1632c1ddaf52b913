// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("a%20b", "a b"), ("100%", "100%"), ("%zz", "%zz"), ("%C3%A9", "é"), ("%ff", "\u{FFFD}"), ("%4", "%4"),
    ])
    func `escapes are decoded and anything else is kept`(encoded: String, decoded: String) {
        #expect(PercentCoding.decode(encoded) == decoded)
    }

    @Test func `a query keeps order and repetition`() {
        let query = QueryItems(parsing: "b=1&a=x+y&b=2&&flag&c=%3D")
        #expect(query.items.map(\.name) == ["b", "a", "b", "flag", "c"])
        #expect(query["a"] == "x y")
        #expect(query["flag"] == "")
        #expect(query["c"] == "=")
        #expect(query.encoded == "b=1&a=x%20y&b=2&flag=&c=%3D")
    }

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
