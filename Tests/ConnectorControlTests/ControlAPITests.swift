// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Dispatch
import NIOCore
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The API of a host, without a socket and on one.
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

    // MARK: The socket

    /// A directory of a test's own.
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        var template = Array("/tmp/connector-control-XXXXXX".utf8CString)
        let path = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
        defer { _ = unsafe system("rm -rf '\(path)'") }
        try await body(path)
    }

    private func mode(_ path: String) -> UInt32? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? UInt32(status.st_mode) : nil
    }

    /// Serves a host while the body runs.
    private func serving(_ directory: String, _ body: () async throws -> Void) async throws {
        let server = ControlServer(ControlAPI(try host()), on: try ControlSocket(in: directory))
        async let end: Void = server.run()
        try await body()
        server.stop()
        try await end
    }

    @Test func `a client asks a host through its directory, however long the path is`() async throws {
        try await withDirectory { root in
            let directory = "\(root)/\(String(repeating: "long", count: 40))/state"
            #expect(try await ControlClient(directory).get("/api/v1/host") == nil)
            try await serving(directory) {
                let client = ControlClient(directory)
                let identity = try await client.get("/api/v1/host").flatMap(HostIdentity.init(json:))
                #expect(identity?.process == Int64(getpid()))
                #expect(try await client.get("/api/v1/status")?["state"]?.string == "closed")
                await #expect(throws: ConnectorError.self) { try await client.get("/nothing") }
                #expect(mode(directory).map { $0 & 0o777 } == 0o700)
                #expect(mode("\(directory)/control").map { $0 & 0o777 } == 0o600)
            }
            #expect(mode("\(directory)/control") == nil, "the socket is removed")
            #expect(try await ControlClient(directory).get("/api/v1/host") == nil)
        }
    }

    @Test func `each line of a stream is read as a document, wherever its parts end`() throws {
        var lines = ControlClient.Lines("/api/v1/events")
        var documents: [[JSONValue]] = []
        for part in ["{\"a\"", ": 1}\n{\"a\": 2}\n\n{", "\"a\": ", "3", "}\n"] {
            var bytes = ByteBuffer(string: "before \(part)")
            bytes.moveReaderIndex(forwardBy: 7)
            documents.append(try lines.feed(bytes.readableBytesView).map { try $0.get() })
        }
        #expect(documents == [[], [["a": 1], ["a": 2]], [], [], [["a": 3]]])
    }

    @Test func `a keep-alive leaves each line of a stream a document`() throws {
        let format = ControlStream.Format.lines
        let expected: [JSONValue] = [["a": 1], ["a": 2], ["a": 3]]
        let parts = expected.map { format.part("event", $0) }
        let sent = [format.keepAlive, format.keepAlive, parts[0], parts[1], format.keepAlive, parts[2]]
        let bytes = Array(sent.joined())
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(try lines.map { try JSONValue(parsing: String($0)) } == expected)
        var reader = ControlClient.Lines("/api/v1/events")
        let read = try reader.feed(ByteBuffer(bytes: bytes).readableBytesView).map { try $0.get() }
        #expect(read == expected)
    }

    @Test func `a line that cannot be read takes no other one of a stream with it`() throws {
        var lines = ControlClient.Lines("/api/v1/events")
        let levels = JSONParser.depthLimit
        let deepest = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let text = "{\"payload\": \(deepest)}\n{nothing}\n{\"a\": 2}\n"
        let found = try lines.feed(ByteBuffer(string: text).readableBytesView)
        #expect(found.count == 3)
        #expect(try found[0].get()["payload"] == JSONValue(parsing: deepest))
        #expect(throws: ConnectorError.self) { try found[1].get() }
        #expect(try found[2].get() == ["a": 2])
    }

    @Test func `a socket that an earlier host left is replaced, and one that a running host uses is not`() async throws
    {
        try await withDirectory { root in
            // Whatever kind of file it was.
            #expect(unsafe system("touch '\(root)/control'") == 0)
            let first = try ControlSocket(in: root)
            #expect(mode("\(root)/control").map { $0 & UInt32(S_IFMT) } == UInt32(S_IFSOCK))
            let error = #expect(throws: ConnectorError.self) { try ControlSocket(in: root) }
            #expect(error?.code == .conflict)
            close(first.descriptor)
        }
        try await withDirectory { root in
            // A socket on which nobody listens anymore.
            close(try ControlSocket(in: root).descriptor)
            #expect(mode("\(root)/control") != nil)
            #expect(try await ControlClient(root).get("/livez") == nil)
            try await serving(root) {
                let answer = try await ControlClient(root).get("/api/v1/host")
                #expect(answer != nil)
            }
        }
    }

    @Test func `a socket that was removed, even with its directory, is made again, and keeps other hosts out`()
        async throws
    {
        try await withDirectory { root in
            let directory = "\(root)/state"
            let first = try ControlSocket(in: directory)
            #expect(first.isInPlace)
            #expect(unsafe unlink("\(directory)/control") == 0)
            #expect(!first.isInPlace)
            let second = try ControlSocket(in: directory, after: first)
            #expect(second.isInPlace && !first.isInPlace)
            #expect(throws: ConnectorError.self) { try ControlSocket(in: directory) }
            first.remove()
            #expect(second.isInPlace, "each removes only its own file")
            #expect(unsafe system("rm -rf '\(directory)'") == 0)
            #expect(!second.isInPlace)
            let third = try ControlSocket(in: directory, after: second)
            #expect(third.isInPlace)
            third.remove()
            #expect(mode("\(directory)/control") == nil)
            for socket in [first, second, third] { close(socket.descriptor) }
        }
    }

    @Test func `a directory that others may enter is made private`() async throws {
        try await withDirectory { root in
            #expect(unsafe chmod(root, 0o755) == 0)
            close(try ControlSocket(in: root).descriptor)
            #expect(mode(root).map { $0 & 0o777 } == 0o700)
        }
    }

    @Test func `a host that breaks off the connection is told apart from one that does not run`() async throws {
        try await withDirectory { root in
            let socket = try ControlSocket(in: root)
            let answer = Task { try await ControlClient(root).get("/api/v1/host") }
            close(await blocking { accept(socket.descriptor, nil, nil) })
            let error = await #expect(throws: ConnectorError.self) { try await answer.value }
            #expect(error?.code == .unavailable && error?.message.contains("has closed the connection") == true)
            close(socket.descriptor)
        }
    }

    @Test func `a response that is no HTTP is said to be that, and no end of the connection`() async throws {
        try await withDirectory { root in
            let socket = try ControlSocket(in: root)
            let answer = Task { try await ControlClient(root).get("/api/v1/host") }
            let descriptor = await blocking { accept(socket.descriptor, nil, nil) }
            let connection = RawSocket.Box(RawSocket(descriptor: descriptor))
            _ = await blocking { connection.value.read(until: "\r\n\r\n") }
            connection.value.send("no HTTP\r\n\r\n".utf8)
            let error = await #expect(throws: ConnectorError.self) { try await answer.value }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("closed the connection") == false, "\(error?.message ?? "")")
            #expect(error?.message.contains("/api/v1/host") == true && error?.cause?.isEmpty == false)
            close(socket.descriptor)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a host that is too busy for a request says so, and that it may be tried again`() async throws {
        try await withDirectory { root in
            let isReadable = DispatchSemaphore(value: 0)
            let api = ControlAPI(try host()) {
                isReadable.wait()
                return PluginListing(PluginLookup(files: []).everything)
            }
            var limits = ServerLimits()
            limits.connections = 8
            let server = ControlServer(api, on: try ControlSocket(in: root), limits: limits)
            async let end: Void = server.run()
            // Seven eighths of the connections may have a request in progress.
            let busy = (0..<7).map { _ in
                Task { try await ControlClient(root).get("/api/v1/plugins", within: nil) }
            }
            while server.table.busyCount < 7 { await Task.yield() }
            let read = await #expect(throws: ConnectorError.self) {
                try await ControlClient(root).get("/api/v1/status")
            }
            let act = await #expect(throws: ConnectorError.self) {
                try await ControlClient(root).attempt("/api/v1/reload", [:])
            }
            for error in [read, act] {
                #expect(error?.code == .unavailable && error?.isRetryable == true)
                #expect(error?.cause == "too many requests are in progress")
            }
            for _ in busy { isReadable.signal() }
            for request in busy { #expect(try await request.value != nil) }
            server.stop()
            try await end
        }
    }

    /// In a process of its own, which gives up the rights of root.
    @Test func `a directory that this user may not enter is an error, and not the absence of a host`() async {
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/connector-control-XXXXXX".utf8CString)
            let path = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
            try #require(unsafe chmod(path, 0) == 0)
            let isRoot = geteuid() == 0
            if isRoot { try #require(seteuid(65_534) == 0) }
            let error = #expect(throws: ConnectorError.self) { try ControlSocket.connect(in: path) }
            if isRoot { try #require(seteuid(0) == 0) }
            unsafe rmdir(path)
            #expect(error?.code == .denied)
        }
    }

    // MARK: Clients that break the rules

    /// Sends bytes, and reads until the server closes the connection.
    private func exchange(_ text: String, in directory: String) async throws -> String {
        let socket = try #require(try ControlSocket.connect(in: directory))
        return await blocking {
            defer { close(socket) }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            var answer: [UInt8] = []
            while true {
                let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                    count = max(0, unsafe recv(socket, buffer.baseAddress, buffer.count, 0))
                }
                guard !bytes.isEmpty else { return String(decoding: answer, as: UTF8.self) }
                answer += bytes
            }
        }
    }

    @Test func `huge bodies and headers, and what is not HTTP, are refused, and the server lives on`() async throws {
        try await withDirectory { root in
            try await serving(root) {
                let head = "POST /api/v1/status HTTP/1.1\r\nHost: x\r\n"
                let huge = String(repeating: "x", count: ControlAPI.bodyLimit * 4)
                let large = try await exchange("\(head)Content-Length: \(huge.utf8.count)\r\n\r\n\(huge)", in: root)
                #expect(large.hasPrefix("HTTP/1.1 413 ") && large.contains("FilesClient") || large.isEmpty)
                let fields = String(repeating: "X-Y: \(String(repeating: "z", count: 1000))\r\n", count: 100)
                let wide = try await exchange("GET /livez HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", in: root)
                #expect(wide.hasPrefix("HTTP/1.1 4") || wide.isEmpty)
                for nonsense in ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
                    let answer = try await exchange(nonsense, in: root)
                    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.0 4"))
                }
                let alive = try await exchange("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", in: root)
                #expect(alive.hasPrefix("HTTP/1.1 200 ") && alive.hasSuffix("\r\n\r\nok\n"))
                let twice = try await exchange(
                    "HEAD /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                    in: root
                )
                #expect(twice.split(separator: "HTTP/1.1 200").count == 2 && twice.hasSuffix("ok\n"))
            }
        }
    }

    @Test func `idle connections, however many, keep no client out`() async throws {
        try await withDirectory { root in
            let server = ControlServer(ControlAPI(try host()), on: try ControlSocket(in: root))
            async let end: Void = server.run()
            let limit = ControlServer.limits.connections
            var idle: [Int32] = []
            for _ in 0..<(limit + 100) { idle.append(try #require(try ControlSocket.connect(in: root))) }
            let request = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            for _ in 0..<10 { #expect(try await exchange(request, in: root).hasSuffix("ok\n")) }
            #expect(server.table.count <= limit)
            for socket in idle { close(socket) }
            server.stop()
            try await end
        }
    }
}

/// Runs what blocks on a thread of its own, so that the server under test has those that it needs.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}
