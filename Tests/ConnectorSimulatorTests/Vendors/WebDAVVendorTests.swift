// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct WebDAVVendorTests {
    private let server = WebDAVVendor.demo()

    private func send(_ method: String, _ path: String, _ body: String = "") -> HTTPResponse {
        let headers: HTTPFields = ["Authorization": "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk", "Depth": "1"]
        return server.respond(to: SimulatedRequest(method, path, headers: headers, body: Array(body.utf8)))
    }

    @Test func `the root stays`() {
        #expect(send("PUT", "/files/a", "1").status == 201)
        #expect(send("DELETE", "/").status == 403)
        #expect(send("GET", "/files/a").text == "1")
        #expect(send("PROPFIND", "/").status == 207)
    }

    @Test func `names differ by their bytes`() {
        #expect(send("PUT", "/files/%C3%A9", "1").status == 201)
        #expect(send("PUT", "/files/e%CC%81", "2").status == 201)
        #expect(send("GET", "/files/%C3%A9").text == "1" && send("GET", "/files/e%CC%81").text == "2")
        #expect(send("DELETE", "/files/e%CC%81").status == 204)
        #expect(send("GET", "/files/%C3%A9").text == "1")
    }
}
