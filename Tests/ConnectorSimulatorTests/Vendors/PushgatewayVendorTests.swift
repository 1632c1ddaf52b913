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
        #expect(text.contains(#"a{instance="",job="shop",x="q\"\\\n"} 4"#))
        #expect(text.contains(#"b{instance="",job="shop"} 3"#))
        #expect(!text.contains("x=\"1\""))
        push("c 1\n", method: "PUT")
        #expect(!gateway.respond(to: .get("/metrics")).text.contains("b{"))
    }

    @Test func `labels are compared by bytes, and end at their quotation mark whatever follows`() {
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
        ("a 1\nb 1", "in line 2: unexpected end"), ("1a 1\n", "invalid metric name"), ("a 0x10\n", "expected float"),
        ("a{1b=\"c\"} 1\n", "invalid label name"), ("a{b:c=\"d\"} 1\n", "expected '=' after label name, found ':'"),
        ("a{__name__=\"b\"} 1\n", "is reserved"), ("a{b=\"1\",b=\"2\"} 1\n", "duplicate label names"),
        ("a{b=\"1\" c=\"2\"} 1\n", "unexpected end of label value"), ("a 1 x\n", "expected integer as timestamp"),
        ("a 1 2 3\n", "spurious string after timestamp"), ("# TYPE a foo\na 1\n", "unknown metric type \"foo\""),
        ("a 1\n# TYPE a gauge\n", "in line 2: second TYPE line"), ("a{instance=\"\"} 1\na 2\n", "same name and label"),
        ("a 1\n#", "in line 2: unexpected end"), ("a 1 5\n", "must not have timestamps"),
        ("a 1\na 2\n", "same name and label"),
        ("a{b=\"c} 1\n", "no end"), ("a{b=\"\\x\"} 1\n", "escape"), ("{} 1\n", "invalid metric name"),
    ])
    func `metrics that cannot be read are refused with the line`(_ text: String, _ words: String) {
        let response = push(text)
        #expect(response.status == 400)
        #expect(response.text.contains(words), "\(response.text)")
    }

    @Test func `blanks may surround what a line has, and numbers are written as by Go`() {
        let lines =
            "\ta { x = \"1\" , y=\"2\" ,} 1e3\n # TYPE  b gauge\nb +Inf\nc 1000000\nd 123456.75\ne 0.00001234\nf -0.05\ng 1e-4\nh nan\n"
        #expect(push(lines).status == 200)
        let values = gateway.respond(to: .get("/metrics")).text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: " ").last }
        #expect(values == ["1000", "+Inf", "1e+06", "123456.75", "1.234e-05", "-0.05", "0.0001", "NaN"])
    }

    @Test func `a label whose name begins with two underscores is refused`() {
        let refused = push("a{_x=\"1\",__y=\"2\"} 1\n")
        #expect(refused.status == 400 && refused.text.contains("a label with an invalid name: __y"))
        #expect(push("a{_x=\"1\"} 1\n").status == 200)
    }

    @Test func `a metric has one type in all groups`() {
        #expect(push("# TYPE a Counter\na 1\n", "job/one").status == 200)
        #expect(push("a 1\n", "job/one").status == 200, "the group's own metric is replaced")
        let other = push("# TYPE a gauge\na 1\n", "job/two")
        #expect(other.status == 400 && other.text.contains("collected metric \"a\" is not a UNTYPED"))
        push("a 1\n", "job/two")
        let text = gateway.respond(to: .get("/metrics")).text
        #expect(text == "# TYPE a untyped\na{instance=\"\",job=\"one\"} 1\na{instance=\"\",job=\"two\"} 1\n")
    }

    @Test(arguments: [
        ("job", 404, ""), ("jobs/a", 404, ""), ("", 405, ""), ("job/a/b", 400, #"label string "/b""#),
        ("job@base64/=", 400, "job name is required"), ("job/a/1b/c", 400, #"improper label name "1b""#),
        ("job/a/__b/c", 400, #"improper label name "__b""#), ("job/a/b%2Fc", 400, #"label string "/b/c/d""#),
        ("job/a/b@base64/!", 400, "invalid base64"), ("job/a/b@base64/_-8", 400, "invalid base64"),
        ("job/a/b@base64/=", 200, ""), ("job/a/job/b", 200, ""),
    ])
    func `the path names a group`(_ path: String, _ status: Int, _ words: String) {
        let answer = push("a 1\n", path.contains("%2F") ? path + "/d" : path)
        #expect(answer.status == status && (words.isEmpty || answer.text.contains(words)))
        guard status == 200 else { return }
        #expect(gateway.respond(to: .get("/api/v1/metrics")).json["data"]?[0]?["labels"]?["job"] == "a")
    }

    /// What the gateway's client for Go sends.
    private func pushMessages(_ hexadecimal: String) -> HTTPResponse {
        let type = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
        let digits = hexadecimal.utf8.compactMap(\.hexDigitValue)
        let body = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        let headers: HTTPFields = ["Content-Type": type]
        return gateway.respond(to: SimulatedRequest("PUT", "/metrics/job/shop", headers: headers, body: body))
    }

    @Test func `protocol buffers are read like text`() {
        let messages = """
            360a027063120468656c70180022130a060a01611201621a0909000000000000144022130a060a01611201631a0909000000008084
            2e41190a027067120468656c701801220b120909000000000000e0bf2f0a027073120468656c7018022221221f0803110000000000
            001e401a1209000000000000e03f110000000000000040350a027068120468656c70180422273a2508041100000000000022401a0b
            080111000000000000f03f1a0b0803110000000000000440190a027075120468656c701803220b2a0909000000000000f87f
            """
        #expect(pushMessages(messages).status == 200)
        let text = gateway.respond(to: .get("/metrics")).text.replacing("instance=\"\",job=\"shop\"", with: "…")
        #expect(
            text == """
                # TYPE pc counter
                pc{a="b",…} 5
                pc{a="c",…} 1e+06
                # TYPE pg gauge
                pg{…} -0.5
                # TYPE ph_bucket untyped
                ph_bucket{…,le="+Inf"} 4
                ph_bucket{…,le="1"} 1
                ph_bucket{…,le="2.5"} 3
                # TYPE ph_count untyped
                ph_count{…} 4
                # TYPE ph_sum untyped
                ph_sum{…} 9
                # TYPE ps summary
                ps{…,quantile="0.5"} 2
                # TYPE ps_count untyped
                ps_count{…} 3
                # TYPE ps_sum untyped
                ps_sum{…} 7.5
                # TYPE pu untyped
                pu{…} NaN

                """
        )
        for broken in ["05", "ff", "020a05", "0207ff", String(messages.prefix(40))] {
            #expect(pushMessages(broken).status == 400)
        }
        #expect(pushMessages("120a0178220d120909000000000000f03f3005").text.contains("must not have timestamps"))
    }

    @Test func `credentials are required if some are configured`() {
        let gateway = PushgatewayVendor.demo()
        #expect(gateway.respond(to: .get("/api/v1/status")).status == 401)
        let headers: HTTPFields = ["Authorization": "Basic \(Base64.encode(Array("demo:demo-password".utf8)))"]
        let status = gateway.respond(to: SimulatedRequest("GET", "/api/v1/status", headers: headers))
        #expect(status.json["data"]?["build_information"]?["version"] != nil)
        #expect(gateway.respond(to: SimulatedRequest("GET", "/-/ready", headers: headers)).text == "OK")
    }
}
