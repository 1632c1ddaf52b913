// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct VictoriaMetricsVendorTests {
    private let server = VictoriaMetricsVendor(credentials: AcceptedCredentials([[:]]))

    private func exported(_ name: String) throws -> [JSONValue] {
        try server.respond(to: .get("/api/v1/export?match[]=\(name)")).text.split(separator: "\n")
            .map { try JSONValue(parsing: String($0)) }
    }

    @Test func `samples of one series are exported together, with the extra labels`() throws {
        let lines = """
            {"metric":{"__name__":"a","x":"1"},"values":[1,2],"timestamps":[10,20]}
            {"metric":
            {"metric":{"x":"1","__name__":"a"},"values":[3],"timestamps":[30]}
            {"metric":{"__name__":"b"},"values":[3],"timestamps":[99999999999999]}
            """
        let request = SimulatedRequest("POST", "/api/v1/import?extra_label=job%3Dshop", body: Array(lines.utf8))
        #expect(server.respond(to: request).status == 204)
        #expect(
            try exported("a") == [
                [
                    "metric": ["__name__": "a", "job": "shop", "x": "1"], "values": [1, 2, 3],
                    "timestamps": [10, 20, 30],
                ]
            ]
        )
        #expect(try exported("b").isEmpty)
    }

    @discardableResult
    private func send(_ lines: String, _ query: String = "") -> HTTPResponse {
        server.respond(to: SimulatedRequest("POST", "/api/v1/import?\(query)", body: Array(lines.utf8)))
    }

    @Test func `samples are numbers in the order of their times, and labels are texts`() throws {
        send(
            """
            {"metric":{"__name__":"a","x":"","y":5,"z":null},"values":[3,9007199254740993,0.5],"timestamps":[30,10,10]}
            {"metric":{"__name__":"a"},"values":[1,true],"timestamps":[1,2]}
            {"metric":{"__name__":"a"},"values":[1],"timestamps":["1"]}
            {"metric":{"__name__":"a"},"values":[1],"timestamps":[-1]}
            {"metric":{"__name__":"b","x":"\u{e9}"},"values":[1],"timestamps":[1]}
            {"metric":{"__name__":"b","x":"e\u{301}"},"values":[2],"timestamps":[1]}
            """
        )
        let all: JSONValue = [
            "metric": ["__name__": "a"], "values": [9_007_199_254_740_992, 0.5, 3], "timestamps": [10, 10, 30],
        ]
        #expect(try exported("a") == [all])
        #expect(try exported("b").count == 2 && exported("a&match[]=b").count == 3)
        for (range, values) in [
            ("start=0.011", [3]), ("end=0.02", [9_007_199_254_740_992, 0.5]), ("start=1970-01-01T00:00:00.030Z", [3]),
        ] as [(String, JSONValue)] {
            #expect(try exported("a&\(range)").map { $0["values"] } == [values])
        }
        #expect(try exported("a&start=1").isEmpty)
    }

    @Test(arguments: [
        "match[]=%7Bx%3D%22y%22%7D", "match[]=a%7B%7D", "match[]=a&start=x", "match[]=a&format=promapi",
        "match[]=a&max_rows_per_line=1", "match[]=", "",
    ])
    func `what is not exported as asked is refused`(_ query: String) {
        #expect(server.respond(to: .get("/api/v1/export?\(query)")).status == 400)
    }

    @Test func `an extra label must have a value`() throws {
        let line = #"{"metric":{"__name__":"a"},"values":[1],"timestamps":[1]}"#
        #expect(send(line, "extra_label=bad").status == 400)
        #expect(try exported("a").isEmpty)
        #expect(send(line, "extra_label=x%3Dy%3Dz&extra_label=w%3D").status == 204)
        #expect(try exported("a").map { $0["metric"] } == [["__name__": "a", "x": "y=z"]])
    }

    @Test func `credentials are required if some are configured, except for health`() {
        let server = VictoriaMetricsVendor.demo()
        #expect(server.respond(to: .get("/health")).text == "OK")
        #expect(server.respond(to: SimulatedRequest("POST", "/api/v1/import")).status == 401)
        let headers: HTTPFields = ["Authorization": "Basic \(Base64.encode(Array("demo:demo-password".utf8)))"]
        #expect(server.respond(to: SimulatedRequest("POST", "/api/v1/import", headers: headers)).status == 204)
        #expect(server.respond(to: SimulatedRequest("GET", "/api/v1/x", headers: headers)).status == 400)
    }
}
