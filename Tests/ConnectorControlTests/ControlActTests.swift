// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What can be done to a host through its API, without a socket.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"))
struct ControlActTests: ControlTests {
    // MARK: Plans

    @Test func `an outdated plan is refused with what has changed, and with the current plan`()
        async throws
    {
        var template = Array("/tmp/connector-plan-XXXXXX".utf8CString)
        let directory = try unsafe String(cString: #require(unsafe mkdtemp(&template)))
        let path = "\(directory)/connectors.json"
        defer {
            unsafe unlink(path)
            unsafe rmdir(directory)
        }
        func write(_ replies: String) throws {
            let gate: JSONValue = [
                "name": "a", "plugin": .string(Fixtures.contract("calls")), "probe": "off",
                "config": ["replies": .string(replies)],
            ]
            let text = (["version": 1, "connectors": [gate]] as JSONValue).serialized()
            let file = unsafe try #require(fopen(path, "w"))
            unsafe fputs(text, file)
            unsafe fclose(file)
        }
        try write("1")
        let host = try ConnectorHost(
            file: path,
            options: .init(environment: .init([:]), pluginDirectories: [], stateDirectory: directory)
        )
        await host.open()
        let api = ControlAPI(host)
        func apply(_ basis: JSONValue) async throws -> (status: Int, document: JSONValue) {
            let body: JSONValue = ["basis": basis]
            let response = await api.respond(post("/api/v1/reload", body.serialized()))
            return (response.status, try JSONValue(parsing: response.bytes))
        }
        try write("2")
        let plan = try JSONValue(parsing: await api.respond("GET", "/api/v1/plan").bytes)
        try write("3")
        let refused = try await apply(try #require(plan["basis"]))
        #expect(refused.status == 409)
        let message = refused.document["errors"]?[0]?["message"]?.string ?? ""
        #expect(message == "since the plan was made, there have been changes of the file \(path)")
        #expect(refused.document["plan"]?["changes"]?[0]?["fields"]?[0]?["to"] == "3")
        let applied = try await apply(try #require(refused.document["plan"]?["basis"]))
        #expect(applied.status == 200)
        #expect(try await host.gate("a").call("answer", ["value": 0]) == 3)
        await host.close()
    }

    // MARK: Stopping

    /// Waits until the plugin of the gate has a call of a name pending.
    private func taken(_ name: String, _ host: ConnectorHost) async throws {
        let arguments: JSONObject = ["name": .string(name), "text": "null"]
        while (try? await host.gate("a").call("progress", arguments)) == nil { try await Task.checkedYield() }
    }

    private func begin(_ name: String, accept: String? = nil) -> ServerRequest {
        let body = #"{"connector": "a", "operation": "begin", "arguments": {"name": "\#(name)"}}"#
        return post("/api/v1/calls", body, accept: accept)
    }

    @Test func `a host that is stopping lets a call end, is read as before, and refuses other calls`() async throws {
        try await withAPI { host, _ in
            let acts = ControlActs()
            let api = ControlAPI(host, acts: acts)
            let request = begin("control-ends")
            let call = Task { await api.respond(request) }
            try await taken("control-ends", host)
            let ending = Task { await acts.end(within: .seconds(3600)) }
            let other = post("/api/v1/calls", #"{"connector": "a", "operation": "counts"}"#)
            var refused = await api.respond(other)
            while refused.status == 200 { refused = await api.respond(other) }
            #expect(refused.status == 503)
            #expect(try error(refused)["code"]?.string == "not-open")
            #expect(await api.respond("GET", "/api/v1/status").status == 200)
            _ = try await host.gate("a").call("finish", ["name": "control-ends", "value": true])
            #expect(await call.value.status == 200)
            await ending.value
        }
    }

    @Test func `a call that has not ended when the time for stopping is over is cancelled, and its caller is told`()
        async throws
    {
        try await withAPI { host, _ in
            let acts = ControlActs()
            let api = ControlAPI(host, acts: acts)
            let (request, streamed) = (begin("control-cut"), begin("control-cut-stream", accept: "application/jsonl"))
            let call = Task { await api.respond(request) }
            guard case .stream(let write) = await api.respond(streamed).body else {
                Issue.record("the call does not stream its progress")
                return
            }
            let stream = Task { try await write(BodyWriter { _ in }) }
            try await taken("control-cut", host)
            try await taken("control-cut-stream", host)
            await acts.end(within: .zero)
            let response = await call.value
            #expect(response.status == 503)
            #expect(try error(response)["message"]?.string == "the host has stopped before the call ended")
            try await stream.value
            while try await host.gate("a").call("counts")["cancels"] != 2 { try await Task.checkedYield() }
        }
    }

    // MARK: Calls

    @Test func `a call answers the same document as the command`() async throws {
        try await withAPI { _, api in
            for arguments in [#"{"value": [1]}"#, #"["value=[1]"]"#, #"["[1]"]"#] {
                let body = #"{"connector": "a", "operation": "answer", "arguments": \#(arguments)}"#
                let response = await api.respond(post("/api/v1/calls", body))
                #expect(response.status == 200)
                let expected: JSONValue = ["version": 1, "path": "a", "operation": "answer", "result": [1]]
                let answered = try JSONValue(parsing: response.bytes)
                #expect(answered == expected)
            }
        }
    }

    @Test func `the deepest argument is taken, and the deepest answer can be read`() async throws {
        try await withAPI { _, api in
            let levels = JSONParser.depthLimit
            let deepest = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            let body = #"{"connector": "a", "operation": "answer", "arguments": {"value": \#(deepest)}}"#
            let response = await api.respond(post("/api/v1/calls", body))
            #expect(response.status == 200)
            let answered = try JSONValue(document: response.bytes)
            let expected = try JSONValue(parsing: deepest)
            #expect(answered["result"] == expected)
            // A deeper one could be stored, and not be read again.
            let deeper = #"{"connector": "a", "operation": "answer", "arguments": {"value": [\#(deepest)]}}"#
            let refusal = await api.respond(post("/api/v1/calls", deeper))
            #expect(refusal.status == 422)
            #expect(try error(refusal)["code"]?.string == "invalid")
        }
    }

    @Test func `a call that fails says why, with a status that fits`() async throws {
        try await withAPI { host, api in
            func status(_ body: String) async throws -> (Int, String?) {
                let response = await api.respond(post("/api/v1/calls", body))
                return (response.status, try error(response)["code"]?.string)
            }
            #expect(try await status(#"{"connector": "b", "operation": "answer"}"#) == (404, "unknown-connector"))
            #expect(try await status(#"{"connector": "a", "operation": "anser"}"#) == (422, "unsupported"))
            #expect(try await status(#"{"connector": "a", "operation": "answer"}"#) == (422, "invalid"))
            let words = #"{"connector": "a", "operation": "answer", "arguments": ["x", "y"]}"#
            #expect(try await status(words) == (422, "invalid"))
            try await host.close("a")
            let closed = #"{"connector": "a", "operation": "answer", "arguments": ["1"]}"#
            #expect(try await status(closed) == (503, "not-open"))
        }
    }

    @Test func `each error has a status that fits, and never that of a broken server`() {
        let expected: [(ConnectorError.Code, Int)] = [
            (.timedOut, 504), (.rateLimited, 429), (.conflict, 409), (.storage, 503), (.unauthorized, 502),
            (.misbehaved, 502), (ConnectorError.Code(rawValue: "whatever"), 502),
        ]
        for (code, status) in expected { #expect(ServerResponse(ConnectorError(code, "x")).status == status) }
    }

    @Test(arguments: [
        (#"{"connector": "a", "operation": "answer""#, 1, 41), (#"[]"#, 1, 1), ("", 1, 1),
        (#"{"operation": "x"}"#, 1, 1),
        ("{\n \"connector\": \"a\",\n \"operation\": 3}", 3, 15),
        ("{\"connector\": \"a\", \"operation\": \"x\",\n\"argumnets\": {}}", 2, 1),
        ("{\"connector\": \"\", \"operation\": \"x\"}", 1, 15),
        ("{\"connector\": \"a\", \"operation\": \"x\", \"arguments\": [1]}", 1, 51),
        ("{\"connector\": \"a\", \"operation\": \"x\", \"timeoutMilliseconds\": 0}", 1, 61),
    ])
    func `an invalid body is refused with the position of the fault in it`(_ body: String, _ line: Int, _ column: Int)
        async throws
    {
        try await withAPI { _, api in
            let response = await api.respond(post("/api/v1/calls", body))
            #expect(response.status == 400)
            let error = try error(response)
            #expect(error["file"] == "body")
            #expect(error["line"]?.integer == Int64(line) && error["column"]?.integer == Int64(column), "\(error)")
        }
    }

    @Test func `a body of another type is refused, and so is one without a type`() async throws {
        try await withAPI { _, api in
            for type in [nil, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
                var request = post("/api/v1/gates/close", #"{"connector": "a"}"#)
                request.fields["Content-Type"] = type
                #expect(await api.respond(request).status == 415, "\(type ?? "none")")
            }
            var request = post("/api/v1/gates/retry", #"{"connector": "a"}"#)
            request.fields["Content-Type"] = "Application/JSON; charset=utf-8"
            #expect(await api.respond(request).status == 200)
        }
    }

    // MARK: Gates

    @Test func `gates are closed, opened and retried, and the report shows their state`() async throws {
        try await withAPI { host, api in
            func state(_ act: String) async throws -> String? {
                let response = await api.respond(post("/api/v1/gates/\(act)", #"{"connector": "a"}"#))
                #expect(response.status == 200)
                return try Report(json: JSONValue(parsing: response.bytes))?["a"]?.state.rawValue
            }
            let states = [try await state("close"), try await state("open"), try await state("retry")]
            #expect(states == ["closed", "open", "open"])
            let unknown = await api.respond(post("/api/v1/gates/close", #"{"connector": "b"}"#))
            #expect(unknown.status == 404)
            #expect(host.report["a"]?.state == .open)
        }
    }

    @Test(arguments: ["open", "retry"])
    func `a host that has closed refuses to open its gates again`(_ act: String) async throws {
        try await withAPI { host, api in
            await host.close()
            let response = await api.respond(post("/api/v1/gates/\(act)", #"{"connector": "a"}"#))
            #expect(response.status == 503)
            let refusal = try error(response)
            #expect(refusal["code"] == "not-open")
        }
    }

    // MARK: The outbox

    @Test func `waiting events and dead letters are listed, replayed and dropped`() async throws {
        let connectors = #"[{"name": "a", "plugin": "deliveries"}]"#
        try await withAPI(connectors, plugin: "deliveries") { host, api in
            #expect(try JSONValue(parsing: await api.respond("GET", "/api/v1/outbox").bytes)["outboxes"] == [])
            try await host.close("a")
            let receipt = try await host.gate("a").send("track", ["event": "Seen", "userId": "u1"])
            let list = try JSONValue(parsing: await api.respond("GET", "/api/v1/outbox?connector=a").bytes)
            #expect(list["outboxes"]?[0]?["queued"] == 1)
            #expect(OutboxDocument.statistics(json: list).map(OutboxDocument.statistics) == list)
            let event = try JSONValue(parsing: await api.respond("GET", "/api/v1/outbox/\(receipt.id)").bytes)
            #expect(event["event"]?["event"] == "Seen" && event["connectors"]?[0]?["state"] == "queued")
            #expect(OutboxDocument.event(json: event).map { OutboxDocument.event($0, showsPayload: true) } == event)
            #expect(await api.respond("GET", "/api/v1/outbox/unknown").status == 404)
            #expect(await api.respond("GET", "/api/v1/outbox/%FF").status == 400)
            #expect(await api.respond("GET", "/api/v1/outbox/").status == 404)
            let dead = try JSONValue(parsing: await api.respond("GET", "/api/v1/dead?limit=5").bytes)
            #expect(dead["dead"] == [] && OutboxDocument.dead(json: dead)?.letters.isEmpty == true)
            for query in [
                "limit=0", "limit=x", "limit=1e2", "limit=1&limit=2", "limit=%FF", "connector=", "after=", "after=x",
                "after=1.2.",
            ] {
                #expect(await api.respond("GET", "/api/v1/dead?\(query)").status == 400, "\(query)")
            }
            func act(_ name: String, _ body: String) async -> ServerResponse {
                await api.respond(post("/api/v1/dead/\(name)", body))
            }
            #expect(await act("drop", "{}").status == 400)
            #expect(await act("drop", #"{"all": true, "ids": ["x"]}"#).status == 400)
            #expect(await act("drop", #"{"all": false}"#).status == 400)
            #expect(await act("replay", #"{"ids": ["x"]}"#).status == 404)
            #expect(await act("replay", #"{"all": true, "queued": true}"#).status == 400)
            #expect(try JSONValue(parsing: await act("replay", #"{"all": true}"#).bytes)["replayed"] == 0)
            let dropped = await act("drop", #"{"all": true, "queued": true, "connector": "a"}"#)
            #expect(try JSONValue(parsing: dropped.bytes) == ["version": 1, "dropped": 1])
        }
    }

    @Test func `dead letters are listed page by page, while some of them are dropped`() async throws {
        let connectors = #"[{"name": "a", "plugin": "deliveries"}]"#
        try await withAPI(connectors, plugin: "deliveries") { host, api in
            let gate = try host.gate("a")
            for _ in 1...7 { _ = try await gate.send("place", ["order": ["refuse"]]) }
            while try await host.outboxStatistics()["a"]?.dead != 7 { try await Task.checkedYield() }
            func page(_ query: String) async throws -> JSONValue {
                let answer = await api.respond("GET", "/api/v1/dead?limit=3\(query)")
                #expect(answer.status == 200)
                return try JSONValue(parsing: answer.bytes)
            }
            func ids(_ page: JSONValue) -> [String] { (page["dead"]?.array ?? []).compactMap { $0["id"]?.string } }
            let whole = try JSONValue(parsing: await api.respond("GET", "/api/v1/dead").bytes)
            let all = try #require(OutboxDocument.dead(json: whole))
            #expect(all.letters.count == 7 && all.next == nil)
            let first = try await page("")
            #expect(ids(first) == all.letters.prefix(3).map(\.event.id))
            #expect(OutboxDocument.dead(json: first)?.next?.description == first["next"]?.string)
            let dropped = JSONValue.array([2, 4].map { .string(all.letters[$0].event.id) })
            let answer = await api.respond(post("/api/v1/dead/drop", #"{"ids": \#(dropped.serialized())}"#))
            #expect(try JSONValue(parsing: answer.bytes)["dropped"] == 2)
            let next = try #require(first["next"]?.string)
            let second = try await page("&after=\(PercentCoding.encode(next))")
            #expect(ids(second) == [3, 5, 6].map { all.letters[$0].event.id })
            let last = try #require(second["next"]?.string)
            let third = try await page("&connector=a&after=\(PercentCoding.encode(last))")
            #expect(ids(third).isEmpty && third["next"] == nil)
        }
    }

    // MARK: The description

    @Test func `endpoints that act are told apart from endpoints that read`() async throws {
        try await withAPI { _, api in
            for endpoint in api.endpoints {
                // Plans show values of `config`, and run the commands of secrets.
                let isPlan = ["plan", "planSwap"].contains(endpoint.operation)
                #expect((endpoint.permission == .act) == (endpoint.method == .post || isPlan))
                let path = endpoint.path.replacing("{id}", with: "x")
                #expect(
                    api.endpoint(for: ServerRequest(endpoint.method.rawValue, path))?.operation == endpoint.operation
                )
                let described = api.document["paths"]?[endpoint.path]?[endpoint.method.rawValue.lowercased()]
                #expect(described?["x-right"]?.string == endpoint.permission.rawValue)
                let body = described?["requestBody"]
                #expect((body != nil) == (endpoint.body != nil))
                #expect(body == nil || body?["description"] == "At most 1024 KiB.")
                for other in ["GET", "POST", "PUT", "TRACE"] where other != endpoint.method.rawValue {
                    let refused = await api.respond(ServerRequest(other, path, ["Content-Type": "application/json"]))
                    #expect(
                        refused.status == 405 && refused.fields["Allow"]?.contains(endpoint.method.rawValue) == true
                    )
                }
                let options = await api.respond("OPTIONS", path)
                #expect(options.status == 204 && options.fields["Allow"]?.contains(endpoint.method.rawValue) == true)
            }
            #expect(api.endpoint(for: ServerRequest("GET", "/api/v1/calls")) == nil)
            #expect(api.endpoint(for: ServerRequest("HEAD", "/api/v1/status?x=1"))?.permission == .read)
        }
    }
}
