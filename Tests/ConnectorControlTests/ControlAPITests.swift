// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Dispatch
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The API of a host, without a socket.
@Suite(.timeLimit(.minutes(5))) struct ControlAPITests {
    private func host(_ connectors: String = #"[{"name": "a", "plugin": "sync"}]"#) throws -> ConnectorHost {
        try ConnectorHost.testing(connectors, plugins: [Fixtures.good("sync")])
    }

    // MARK: Answers

    @Test func `every endpoint answers what its description says`() async throws {
        let api = ControlAPI(try host())
        for endpoint in api.endpoints where endpoint.method == .get && endpoint.segments.isEmpty {
            let response = await api.respond("GET", endpoint.path)
            let described = endpoint.answers.first { $0.status == response.status }
            #expect(described != nil, "\(endpoint.path) answers \(response.status)")
            #expect(described?.contentTypes.contains(response.fields["Content-Type"] ?? "") == true)
            #expect(response.isStream == (endpoint.operation == "events"))
            guard response.fields["Content-Type"] == ServerResponse.json else { continue }
            let document = try JSONValue(parsing: response.bytes)
            let schema = try #require(described?.schema)
            #expect(try SchemaCheck(schema: schema).faults(in: document) == [], "\(endpoint.path)")
        }
    }

    @Test func `the description lists every endpoint, and is itself served by one`() async throws {
        let api = ControlAPI(try host())
        let document = try JSONValue(parsing: await api.respond("GET", "/api/v1/openapi.json").bytes)
        #expect(document == api.document)
        #expect(document["openapi"]?.string == "3.1.0")
        #expect(document["paths"]?.object?.names == api.endpoints.map(\.path))
        #expect(Set(api.endpoints.map(\.path)).count == api.endpoints.count)
        #expect(Set(api.endpoints.map(\.operation)).count == api.endpoints.count)
    }

    @Test func `the description says where the API is served, and whether its clients need a token`() throws {
        let (console, socket) = (ControlAPI(try host()).document, ControlAPI(try host(), isLocal: true).document)
        let scheme = console["components"]?["securitySchemes"]?["token"]
        #expect(scheme?["type"]?.string == "http" && scheme?["scheme"]?.string == "bearer")
        #expect(console["security"] == JSONValue.array([["token": []]]))
        #expect(console["paths"]?["/livez"]?["get"]?["security"] == JSONValue.array([]))
        #expect(console["paths"]?["/readyz"]?["get"]?["security"] == nil)
        #expect(console["servers"]?[0]?["description"]?.string == "The address of the console.")
        #expect(socket["components"]?["securitySchemes"] == nil && socket["security"] == nil)
        #expect(socket["paths"]?["/livez"]?["get"]?["security"] == nil)
        #expect(socket["servers"]?[0]?["description"]?.string?.contains("Unix socket") == true)
    }

    @Test func `the description defines each schema that has a name once, and refers to each`() throws {
        let document = ControlAPI(try host()).document
        var references: Set<String> = []
        func collect(_ value: JSONValue) {
            if let name = value["$ref"]?.string { references.insert(name) }
            for element in value.array ?? [] { collect(element) }
            for member in value.object?.members ?? [] { collect(member.value) }
        }
        collect(document)
        let schemas = try #require(document["components"]?["schemas"]?.object)
        #expect(references == Set(schemas.names.map { "#/components/schemas/\($0)" }))
        let responses = document["paths"]?["/api/v1/status"]?["get"]?["responses"]
        for (status, name) in [("200", "Report"), ("default", "Errors")] {
            let schema = responses?[status]?["content"]?["application/json"]?["schema"]
            #expect(schema?["$ref"]?.string == "#/components/schemas/\(name)")
        }
        #expect(schemas["Gate"]?["properties"]?["error"]?["$ref"]?.string == "#/components/schemas/Error")
        #expect(schemas["Error"]?["properties"]?["code"]?["type"]?.string == "string")
    }

    @Test func `only clients on this machine may name a file whose code the host runs`() async throws {
        let (remote, local) = (ControlAPI(try host()), ControlAPI(try host(), isLocal: true))
        #expect(remote.endpoints.allSatisfy { !$0.path.hasPrefix("/api/v1/swap") })
        #expect(Set(local.endpoints.map(\.path)).count == local.endpoints.count)
        let plan = await local.respond("GET", "/api/v1/swap/plan?connector=a&file=/nowhere.so")
        #expect(plan.status == 422)
        #expect(try JSONValue(parsing: plan.bytes)["errors"]?[0]?["code"]?.string == "not-found")
        let relative = await local.respond("GET", "/api/v1/swap/plan?connector=a&file=nowhere.so")
        #expect(relative.status == 422)
        #expect(String(decoding: relative.bytes, as: UTF8.self).contains("is not an absolute path"))
    }

    @Test func `the API answers the same documents as the commands`() async throws {
        let host = try host()
        let api = ControlAPI(host)
        #expect(try JSONValue(parsing: await api.respond("GET", "/api/v1/status").bytes) == host.report.json)
        #expect(try JSONValue(parsing: await api.respond("GET", "/api/v1/status?x=1").bytes) == host.report.json)
        #expect(String(decoding: await api.respond("GET", "/metrics").bytes, as: UTF8.self) == host.prometheusText)
    }

    @Test func `a host is ready once its required gates are`() async throws {
        let needed = await ControlAPI(try host()).respond("GET", "/readyz")
        #expect(needed.status == 503 && String(decoding: needed.bytes, as: UTF8.self) == "a: closed\n")
        let free = await ControlAPI(try host(#"[{"name": "a", "plugin": "sync", "required": false}]"#))
            .respond("GET", "/readyz")
        #expect(free.status == 200)
        #expect(await ControlAPI(try host()).respond("GET", "/livez").status == 200)
    }

    @Test func `a host that cannot store events is not ready, as its report says`() async throws {
        let host = try ConnectorHost.testing(
            #"[{"name": "a", "plugin": "deliveries", "probe": "off", "required": false}]"#,
            plugins: [Fixtures.contract("deliveries")],
            stateDirectory: "/dev/null/state"
        )
        let report = await host.open()
        let error = try #require(report.outboxError)
        let answer = await ControlAPI(host).respond("GET", "/readyz")
        #expect(answer.status == 503 && !report.isReady)
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "outbox: \(error)\n")
        #expect(await ControlAPI(host).respond("GET", "/livez").status == 200)
        await host.close()
    }

    @Test func `unknown paths and wrong methods are answered with an error document`() async throws {
        let api = ControlAPI(try host())
        let unknown = await api.respond("GET", "/api/v1/statuss")
        #expect(unknown.status == 404)
        let error = try JSONValue(parsing: unknown.bytes)["errors"]?[0]
        #expect(error?["message"]?.string == ControlAPI.absence(of: "/api/v1/statuss").message)
        #expect(error?["code"]?.string == "missing" && error?["fix"]?.string?.contains("/api/v1/status") == true)
        for method in ["POST", "DELETE", "get", "\u{7F}\u{FF}"] {
            let refused = await api.respond(method, "/api/v1/status")
            #expect(refused.status == 405 && refused.fields["Allow"] == "GET, HEAD, OPTIONS")
        }
        #expect(await api.respond("GET", "").status == 404)
        #expect(await api.respond("GET", String(repeating: "/", count: 100_000)).bytes.count < 2000)
    }

    @Test func `a compressed body is refused, and the client told to send it as it is`() async throws {
        let api = ControlAPI(try host())
        func answer(_ coding: String) async -> ServerResponse {
            let fields: HTTPFields = ["Content-Type": "application/json", "Content-Encoding": coding]
            return await api.respond(ServerRequest("POST", "/api/v1/gates/retry", fields, body: Array("{}".utf8)))
        }
        let refused = await answer("gzip")
        #expect(refused.status == 415 && refused.fields["Accept-Encoding"] == "identity")
        let error = try JSONValue(parsing: refused.bytes)["errors"]?[0]
        #expect(error?["code"]?.string == "unsupported" && error?["message"]?.string?.contains("gzip") == true)
        #expect(error?["fix"]?.string?.contains("Content-Encoding") == true)
        let read = await answer("Identity")
        #expect(read.status == 400, "the body is read, and names no connector")
    }

    @Test(
        arguments: [
            ("application/json, text/event-stream", .events), ("application/json, application/jsonl", .lines),
            ("text/event-stream;q=0.5, application/jsonl", .lines), ("application/x-ndjson;q=0.2", .lines),
            ("application/jsonl;q=0.3, application/*;q=0.1", .lines), ("text/event-stream;q=much", .events),
            ("application/json, text/event-stream;q=0", nil), ("application/json;q=1, application/jsonl;q=0.1", nil),
            ("text/event-stream ; Q=0, */*", nil), ("application/jsonl;q=0.9, */*", nil), ("*/*", nil), ("", nil),
        ] as [(String, ControlStream.Format?)]
    )
    func `a client gets a stream in place of a document as the weights in Accept say`(
        accept: String,
        format: ControlStream.Format?
    ) {
        #expect(ControlStream.Format(accept: accept, orDocument: true) == format)
    }

    @Test(arguments: [
        ("application/json, application/jsonl;q=0.1", "application/jsonl"),
        ("text/event-stream;q=0, application/jsonl;q=0.1", "application/jsonl"), ("*/*", "text/event-stream"),
    ])
    func `where there is no document, the weight of one does not count`(accept: String, type: String) async throws {
        let response = await ControlAPI(try host()).respond(
            ServerRequest("GET", "/api/v1/events", ["Accept": accept])
        )
        #expect(response.status == 200 && response.isStream)
        #expect(response.fields["Content-Type"] == type)
    }

    @Test(.timeLimit(.minutes(1)))
    func `searches for plugins that take long hold up no other request`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let isReadable = DispatchSemaphore(value: 0)
        let api = ControlAPI(try host()) {
            begin.finish()
            isReadable.wait()
            return PluginListing(PluginLookup(files: []).everything)
        }
        // More than the cooperative pool has threads.
        let requests = (0..<100).map { _ in Task { await api.respond("GET", "/api/v1/plugins").status } }
        for await _ in begun {}
        #expect(await api.respond("GET", "/livez").status == 200)
        for _ in requests { isReadable.signal() }
        for request in requests { #expect(await request.value == 200) }
    }

    @Test func `a report read back from its document is unchanged`() async throws {
        let report = await
            (try host(
                #"""
                [{"name": "group", "policy": "all", "connectors": [
                    {"name": "a", "plugin": "sync"}, {"name": "b", "plugin": "sync", "required": false}]}]
                """#
            )).open()
        let read = try #require(Report(json: report.json))
        #expect(read.json == report.json)
        #expect(Report(json: ["version": 2, "state": "open", "gates": []]) == nil)
        #expect(Report(json: ["version": 1, "state": "open", "gates": [["path": "a"]]]) == nil)
    }
}
