// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct SimulatorRouterTests {
    /// A simulator that was never started.
    private func simulator(_ vendors: [String], faults: [String] = []) throws -> Simulator {
        var options = SimulatorOptions()
        options.vendors = vendors
        options.faults = try faults.map { try Fault($0, vendors: vendors) }
        return try Simulator(options)
    }

    /// A batch Segment accepts.
    private let batch = SimulatedRequest.json("POST", "/v1/batch", ["writeKey": "demo-write-key", "batch": []])

    @Test func `a single vendor is served at the root, and several under their names`() throws {
        #expect(try simulator(["segment"]).answer(batch).response.status == 200)
        var prefixed = batch
        prefixed.target = "/segment/v1/batch"
        #expect(try simulator(["segment", "kinto"]).answer(prefixed).response.status == 200)
        let lost = try simulator(["segment", "kinto"]).answer(batch).response
        #expect(lost.status == 404)
        #expect(lost.json["vendors"]?["kinto"] == "http://127.0.0.1/kinto")
    }

    @Test func `an unknown vendor is an error that lists the known ones`() {
        let error = #expect(throws: SimulatorError.self) { try simulator(["segmnt"]) }
        #expect(error?.description.contains("photon") == true)
    }

    @Test func `a recording that the host names has every path, also those of the simulator`() throws {
        let text = """
            {"version": 1, "answers": [
                {"path": "/_received", "text": "theirs"}, {"path": "/segment/a", "text": "own"}, {"path": "/", "text": "root"}
            ]}
            """
        let answers = try #require(try SimulatedWorld(parsing: Array(text.utf8), file: "a.json").answers)
        let simulator = try simulator(["segment", "kinto"])
        simulator.serve(answers, as: "recorded-0", hiding: [:])
        for (path, text) in [("/_received", "theirs"), ("/segment/a", "own"), ("/", "root")] {
            let request = SimulatedRequest("GET", path, headers: [HTTPFields.recording: "recorded-0"])
            #expect(simulator.answer(request).response.text == text)
        }
        let received = simulator.received(by: "recorded-0")
        #expect(received.map(\.path) == ["/_received", "/segment/a", "/"])
        #expect(received.allSatisfy { $0.headers[HTTPFields.recording] == nil })
        #expect(simulator.answer(.get("/recorded-0/_received")).response.json["requests"]?.array?.count == 3)
    }

    @Test(arguments: [false, true])
    func `a request without an answer is quoted without the credentials in it`(isExact: Bool) throws {
        let answer = #"{"path": "/send", "when": {"query": {"to": "7"}}}"#
        let text = #"{"version": 1, "exact": \#(isExact), "answers": [\#(answer)]}"#
        let answers = try #require(try SimulatedWorld(parsing: Array(text.utf8), file: "a.json").answers)
        let simulator = try simulator(["segment"])
        simulator.serve(answers, as: "recorded-0", hiding: ["key": "s3cr3t/key"])
        func refusal(_ target: String) -> String {
            let request = SimulatedRequest("GET", target, headers: [HTTPFields.recording: "recorded-0"])
            return simulator.answer(request).response.json["error"]?.string ?? ""
        }
        #expect(refusal("/s3cr3t%2Fkey/send").contains("GET /•••/send; the nearest is answers[0], any method /send"))
        #expect(refusal("/send?to=s3cr3t%2Fkey").contains(#"query "to" is "•••", not "7""#))
        #expect(refusal("/send?to=s3cr3t%2Fke").contains(#"query "to" is "s3cr3t/ke", not "7""#))
    }

    @Test func `links carry the prefix`() throws {
        let simulator = try simulator(["parse", "kinto"])
        var create = SimulatedRequest.json(
            "POST",
            "/parse/v1/api/classes/Game",
            ["score": 1],
            headers: ["X-Parse-Application-Id": "demo-app", "X-Parse-Client-Key": "demo-client-key", "Host": "host:1"]
        )
        let created = simulator.answer(create).response
        #expect(created.status == 201)
        let id = try #require(created.json["objectId"]?.string)
        #expect(created.headers["Location"] == "http://host:1/parse/v1/api/classes/Game/\(id)")
        create.target = "/kinto/v1"
        create.method = "GET"
        #expect(simulator.answer(create).response.headers["Location"] == "http://host:1/kinto/v1/")
    }

    @Test func `a status fault has the vendor's own body and added headers`() throws {
        let simulator = try simulator(["segment"], faults: ["segment:status=429,retry-after=7,times=1"])
        let refused = simulator.answer(batch).response
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == "7")
        #expect(refused.headers["X-RateLimit-Reset"] != nil)
        #expect(refused.json["code"] == "rate_limit_exceeded")
        #expect(simulator.answer(batch).response.status == 200)
    }

    @Test func `a fault with a vendor's own code is answered as that vendor would`() throws {
        let simulator = try simulator(
            ["google", "parse"],
            faults: ["google:code=OVER_QUERY_LIMIT", "parse:code=155"]
        )
        let google = simulator.answer(.get("/google/maps/api/geocode/json?address=x&key=AIza-demo-key")).response
        #expect(google.status == 200)
        #expect(google.json["status"] == "OVER_QUERY_LIMIT")
        let parse = simulator.answer(.get("/parse/parse/classes/X")).response
        #expect(parse.status == 400)
        #expect(parse.json["code"] == 155)
    }

    @Test func `slow, reset, truncated and garbage faults shape what the connection sends`() throws {
        let slow = try simulator(["segment"], faults: ["*:slow=2s"]).answer(batch)
        #expect(slow.delay == .seconds(2))
        #expect(slow.response.status == 200)
        #expect(try simulator(["segment"], faults: ["*:reset"]).answer(batch).delivery == .reset)
        #expect(try simulator(["segment"], faults: ["*:truncated"]).answer(batch).delivery == .truncated)
        let garbage = try simulator(["segment"], faults: ["*:garbage"]).answer(batch).response
        #expect(garbage.status == 200)
        #expect(garbage.json == .null)
    }

    @Test func `a compressed body is decoded, and one that cannot be decoded is refused`() throws {
        let simulator = try simulator(["segment"])
        var request = batch
        // {"writeKey":"demo-write-key","batch":[]}
        request.body = try #require(
            Base64.decode("eJyrViovyixJ9U6tVLJSSknNzdcF83WzgQI6SkmJJckZSlbRsbUAIrkN5g==")
        )
        request.fields["Content-Encoding"] = "deflate"
        #expect(simulator.answer(request).response.status == 200)
        request.fields["Content-Encoding"] = "gzip"
        #expect(simulator.answer(request).response.status == 400)
        request.fields["Content-Encoding"] = "identity"
        request.body = batch.body
        #expect(simulator.answer(request).response.status == 200)
        request.fields["Content-Encoding"] = "zstd"
        #expect(simulator.answer(request).response.status == 415)
        request.fields["Content-Encoding"] = String(repeating: "identity,", count: 6)
        #expect(simulator.answer(request).response.status == 415)
    }

    @Test func `a brotli body is decoded if its library is installed, and refused with a remedy otherwise`() throws {
        let simulator = try simulator(["sentry"])
        // An envelope with one client report.
        let body = try #require(Base64.decode("Cw+Ae30KeyJ0eXBlIjoiY2xpZW50X3JlcG9ydCJ9Cnt9CgM="))
        let request = SimulatedRequest(
            "POST",
            "/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef",
            headers: ["Content-Encoding": "br"],
            body: body
        )
        let response = simulator.answer(request).response
        if response.status == 415 {
            #expect(response.json["detail"]?.string?.contains("install libbrotli1") == true)
        } else {
            #expect(response.status == 200)
            #expect(simulator.received().first?.body.starts(with: Array("{}\n".utf8)) == true)
        }
    }

    @Test func `received requests can be read back without credentials, and cleared`() throws {
        let simulator = try simulator(["segment", "sentry"])
        var request = batch
        request.target = "/segment/v1/batch"
        request.fields["Authorization"] = "Basic ZGVtby13cml0ZS1rZXk6"
        _ = simulator.answer(request)
        _ = simulator.answer(.get("/sentry/api/1/store/?sentry_key=0123456789abcdef0123456789abcdef&x=1"))
        let document = simulator.answer(.get("/_received")).response.json
        #expect(document["version"] == 1)
        #expect(document["dropped"] == 0)
        let first = try #require(document["requests"]?[0])
        #expect(first["vendor"] == "segment")
        #expect(first["path"] == "/v1/batch")
        #expect(first["body"]?.string == "{\"writeKey\":\"•••\",\"batch\":[]}")
        #expect(first["headers"]?["authorization"] == "Basic •••")
        #expect(first["status"] == 200)
        #expect(first["at"] == "2026-01-02T12:00:00.000Z")
        #expect(document["requests"]?[1]?["path"] == "/api/1/store/?sentry_key=•••&x=1")
        let sentry = simulator.answer(.get("/sentry/_received")).response.json
        #expect(sentry["requests"]?.array?.count == 1)
        #expect(simulator.answer(SimulatedRequest("DELETE", "/sentry/_received")).response.status == 204)
        #expect(simulator.received().count == 1)
        #expect(simulator.answer(SimulatedRequest("DELETE", "/_received")).response.status == 204)
        #expect(simulator.received().isEmpty)
        #expect(simulator.answer(SimulatedRequest("PUT", "/_received")).response.status == 405)
    }

    @Test(
        arguments: [
            ["Origin": "http://evil.example"], ["Origin": "null"],
            ["Origin": "http://localhost:1", "Host": "localhost:2"],
            ["Host": "evil.example"], ["Host": "evil.example:8080"], ["Host": "127.0.0.1.evil.example"],
            ["Host": "localhost.evil.example"], ["Host": "user@evil.example"], ["Host": "[::2]:80"], ["Host": ""],
            ["Host": "192.168.0.1"], ["Host": "localhost", "Sec-Fetch-Site": "cross-site"],
        ] as [HTTPFields]
    )
    func `web pages cannot read or clear the received requests`(headers: HTTPFields) throws {
        let simulator = try simulator(["segment", "sentry"])
        var request = batch
        request.target = "/segment/v1/batch"
        _ = simulator.answer(request)
        for path in ["/_received", "/segment/_received"] {
            for method in ["GET", "DELETE"] {
                let response = simulator.answer(SimulatedRequest(method, path, headers: headers)).response
                #expect(response.status == 403)
                #expect(response.json["requests"] == nil)
            }
        }
        #expect(simulator.received().count == 1)
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost", "[::1]:80", "LOCALHOST:80", "127.1.2.3", "a.localhost:1"])
    func `programs on this machine may read the received requests`(host: String) throws {
        let request = SimulatedRequest("GET", "/_received", headers: ["Host": host])
        #expect(try simulator(["segment"]).answer(request).response.status == 200)
    }

    @Test func `faults are added to a running simulator, all or none of them, and removed`() throws {
        let simulator = try simulator(["segment", "google"])
        func put(_ text: String) -> (status: Int, document: JSONValue) {
            var request = SimulatedRequest("PUT", "/_faults")
            request.body = Array(text.utf8)
            let response = simulator.answer(request).response
            return (response.status, response.json)
        }
        let added = put("google:status=503,times=2\nsegment:reset")
        #expect(added.status == 200 && added.document["faults"]?[0]?["left"] == 2)
        #expect(simulator.answer(.get("/google/maps/api/geocode/json")).response.status == 503)
        #expect(simulator.answer(.get("/_faults")).response.json["faults"]?[0]?["left"] == 1)
        let refused = put("segment:status=500\nnobody:reset")
        #expect(refused.status == 400 && refused.document["error"]?.string?.contains("no vendor \"nobody\"") == true)
        #expect(simulator.answer(.get("/_faults")).response.json["faults"]?.array?.count == 2, "nothing has changed")
        #expect(
            simulator.answer(SimulatedRequest("DELETE", "/_faults")).response.json["faults"]?.array?.isEmpty == true
        )
        #expect(simulator.answer(SimulatedRequest("POST", "/_faults")).response.status == 405)
        let foreign = SimulatedRequest("PUT", "/_faults", headers: ["Origin": "http://evil.example"])
        #expect(simulator.answer(foreign).response.status == 403)
    }

    @Test func `initial faults are listed until they are used up, and HEAD is recorded as HEAD`() throws {
        var options = SimulatorOptions()
        options.vendors = ["photon", "google"]
        options.faults = try ["photon:status=500,method=HEAD,times=1", "*:status=503,method=GET"].map {
            try Fault($0, vendors: options.vendors)
        }
        let simulator = try Simulator(options)
        func listed() -> [String?]? {
            simulator.answer(.get("/_faults")).response.json["faults"]?.array?.map { $0["fault"]?.string }
        }
        #expect(listed() == ["photon:status=500,times=1,method=HEAD", "*:status=503,method=GET"])
        let statuses = ["GET", "HEAD", "HEAD"].map {
            simulator.answer(SimulatedRequest($0, "/photon/status")).response.status
        }
        #expect(statuses == [503, 500, 503])
        #expect(listed() == ["*:status=503,method=GET"])
        #expect(simulator.received().map(\.method) == ["GET", "HEAD", "HEAD"])
    }

    @Test func `credentials that are given replace those of the demonstration`() throws {
        var options = SimulatorOptions()
        options.vendors = ["google"]
        options.credentials = ["google": [["key": "one"], ["key": "two", "endpoint": "x"]]]
        let simulator = try Simulator(options)
        for (key, status) in [("one", "ZERO_RESULTS"), ("two", "ZERO_RESULTS"), ("AIza-demo-key", "REQUEST_DENIED")] {
            let response = simulator.answer(.get("/maps/api/geocode/json?address=qqq&key=\(key)")).response
            #expect(response.json["status"] == .string(status))
        }
    }
}
