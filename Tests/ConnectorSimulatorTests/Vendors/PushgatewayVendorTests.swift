// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct PushgatewayVendorTests {
    private let gateway = PushgatewayVendor(credentials: AcceptedCredentials([[:]]))

    @discardableResult
    private func push(_ text: String, _ path: String = "job/shop", method: String = "POST") -> HTTPResponse {
        gateway.respond(to: SimulatedRequest(method, "/metrics/\(path)", body: Array(text.utf8)))
    }

    @Test func `a push replaces metrics of the same name, a put the whole group`() {
        #expect(push("# TYPE a counter\na{x=\"1\"} 1\na{x=\"2\"} 2\n").status == 200)
        push("b 3\n")
        push("a{x=\"q\\\"\\\\\\n\"} 4\n")
        let text = gateway.respond(to: .get("/metrics")).text
        #expect(text.contains(#"a{job="shop",x="q\"\\\n"} 4"#) && text.contains(#"b{job="shop"} 3"#))
        #expect(!text.contains("x=\"1\""))
        push("c 1\n", method: "PUT")
        #expect(!gateway.respond(to: .get("/metrics")).text.contains("b{"))
    }

    @Test func `labels differ by their bytes, and end at their quotation mark whatever follows`() {
        #expect(push("a{x=\"\u{e9}\"} 1\na{x=\"e\u{301}\"} 2\n").status == 200)
        #expect(push("b{x=\"\u{301}y\\\"\u{301}\"} 3\n").status == 200)
        let text = gateway.respond(to: .get("/metrics")).text
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 5)
        push("c 1\n", "job/shop/instance/%C3%A9")
        push("c 2\n", "job/shop/instance/e%CC%81")
        #expect(gateway.respond(to: .get("/api/v1/metrics")).json["data"]?.array?.count == 3)
    }

    @Test func `groups are told apart by all labels of the path`() {
        push("a 1\n", "job/shop/instance/one")
        push("a 2\n", "job@base64/c2hvcA/instance/two")
        let data = gateway.respond(to: .get("/api/v1/metrics")).json["data"]
        #expect(data?.array?.count == 2)
        #expect(data?.array?.allSatisfy { $0["labels"]?["job"] == "shop" } == true)
        #expect(push("", "job/shop/instance/one", method: "DELETE").status == 202)
        #expect(gateway.respond(to: .get("/api/v1/metrics")).json["data"]?.array?.count == 1)
    }

    @Test(arguments: [
        ("a{b=c} 1\n", #"in line 1: expected '"' at start"#), ("\na b\n", "in line 2: expected float"),
        ("a 1", "unexpected end"), ("a 1 5\n", "must not have timestamps"), ("a 1\na 2\n", "same name and label"),
        ("a{b=\"c} 1\n", "no end"), ("a{b=\"\\x\"} 1\n", "escape"), ("{} 1\n", "invalid metric name"),
    ])
    func `what cannot be read is refused with the line`(_ text: String, _ words: String) {
        let response = push(text)
        #expect(response.status == 400)
        #expect(response.text.contains(words), "\(response.text)")
    }

    @Test func `credentials are required where some are configured`() {
        let gateway = PushgatewayVendor.demo()
        #expect(gateway.respond(to: .get("/api/v1/status")).status == 401)
        let headers: HTTPFields = ["Authorization": "Basic \(Base64.encode(Array("demo:demo-password".utf8)))"]
        let status = gateway.respond(to: SimulatedRequest("GET", "/api/v1/status", headers: headers))
        #expect(status.json["data"]?["build_information"]?["version"] != nil)
        #expect(gateway.respond(to: SimulatedRequest("GET", "/-/ready", headers: headers)).text == "OK")
    }
}
