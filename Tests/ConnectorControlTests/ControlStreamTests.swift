// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the API streams: calls with their progress, and plugins' events, with a socket and without.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"))
struct ControlStreamTests: ControlTests {
    /// Makes the plugin finish a call as soon as the call is pending.
    private func finish(_ name: String, _ host: ConnectorHost) async throws {
        while (try? await host.gate("a").call("finish", ["name": .string(name), "value": 1])) == nil {
            try await Task.checkedYield()
        }
    }

    // MARK: Calls

    /// Starts the stream of an answer, as a server does once it is ready to send. Dropping the parts cancels it.
    private func started(_ response: ServerResponse) throws -> AsyncStream<[UInt8]> {
        guard case .stream(let write) = response.body else {
            throw ConnectorError(.failed, "the answer is no stream")
        }
        let (parts, reader) = AsyncStream.makeStream(of: [UInt8].self)
        let writing = Task {
            try? await write(BodyWriter { reader.yield($0) })
            reader.finish()
        }
        reader.onTermination = { _ in writing.cancel() }
        return parts
    }

    /// What a stream holds.
    private func text(_ parts: AsyncStream<[UInt8]>) async -> String {
        var text = ""
        for await part in parts { text += String(decoding: part, as: UTF8.self) }
        return text
    }

    @Test(arguments: ["text/event-stream", "application/jsonl"])
    func `a streamed call tells its progress, then its result`(_ accept: String) async throws {
        try await withAPI { host, api in
            // Every gate of the plugin knows the calls by name.
            let name = "api \(accept)"
            let body = #"{"connector": "a", "operation": "begin", "arguments": ["\#(name)"]}"#
            let response = await api.respond(post("/api/v1/calls", body, accept: accept))
            #expect(response.status == 200 && response.fields["Content-Type"] == accept)
            let parts = try started(response)
            let gate = try host.gate("a")
            while (try? await gate.call("progress", ["name": .string(name), "text": "{\"done\": 1}"])) == nil {
                try await Task.checkedYield()
            }
            _ = try await gate.call("finish", ["name": .string(name), "value": 7])
            let progress = #"{"version":1,"progress":{"done":1}}"#
            let result = #"{"version":1,"path":"a","operation":"begin","result":7}"#
            let expected =
                accept == "application/jsonl"
                ? "\(progress)\n\(result)\n"
                : "event: progress\ndata: \(progress)\n\nevent: result\ndata: \(result)\n\n"
            #expect(await text(parts) == expected)
            let refused = await api.respond(
                post("/api/v1/calls", #"{"connector": "a", "operation": "refuse", "arguments": ["5"]}"#, accept: accept)
            )
            #expect(try await text(started(refused)).contains(#"{"version":1,"errors":["#))
        }
    }

    /// Waits until the gate has received a number of cancellations: a caller does not wait until the plugin knows.
    private func cancellations(_ host: ConnectorHost, reach count: Int64) async throws {
        var cancels: Int64
        repeat { cancels = try await host.gate("a").call("counts")["cancels"]?.integer ?? 0 } while cancels < count
        #expect(cancels == count)
    }

    @Test func `a client that leaves before the answer cancels the call`() async throws {
        try await withAPI { host, api in
            let request = post("/api/v1/calls", #"{"connector": "a", "operation": "begin", "arguments": ["api-left"]}"#)
            let asking = Task { await api.respond(request) }
            let gate = try host.gate("a")
            while (try? await gate.call("progress", ["name": "api-left", "text": "1"])) == nil {
                try await Task.checkedYield()
            }
            asking.cancel()
            #expect(try error(await asking.value)["code"] == "cancelled")
            try await cancellations(host, reach: 1)
            let streamed = await api.respond(
                post(
                    "/api/v1/calls",
                    #"{"connector": "a", "operation": "begin", "arguments": ["api-read"]}"#,
                    accept: "application/jsonl"
                )
            )
            var reader: (status: Int, parts: AsyncStream<[UInt8]>)? = (streamed.status, try started(streamed))
            while (try? await gate.call("progress", ["name": "api-read", "text": "1"])) == nil {
                try await Task.checkedYield()
            }
            #expect(reader?.status == 200)
            // Nobody reads it.
            reader = nil
            try await cancellations(host, reach: 2)
            for name in ["api-left", "api-read"] { try await finish(name, host) }
        }
    }

    // MARK: Events

    @Test func `plugins' events are streamed until the requested count is reached`() async throws {
        try await withAPI { host, api in
            #expect(await api.respond("GET", "/api/v1/events?connector=b").status == 404)
            #expect(await api.respond("GET", "/api/v1/events?count=0").status == 400)
            let response = await api.respond(
                ServerRequest("GET", "/api/v1/events?count=2", ["Accept": "application/jsonl"])
            )
            for number in [1, 2, 3] as [Int64] {
                host.dependencies.services.events.publish(
                    ConnectorEvent(connector: "a", name: "rang", payload: .integer(number))
                )
            }
            let lines = try await text(started(response)).split(separator: "\n")
                .map { try JSONValue(parsing: String($0)) }
            #expect(lines.map { $0["payload"] } == [1, 2])
            #expect(lines.compactMap(ConnectorEvent.init(json:)).map(\.json) == lines)
        }
    }

    @Test func `a client that reads too slowly is told how many events it missed`() async throws {
        try await withAPI { host, api in
            let response = await api.respond(ServerRequest("GET", "/api/v1/events", ["Accept": "application/jsonl"]))
            guard case .stream(let write) = response.body else {
                throw ConnectorError(.failed, "the answer is no stream")
            }
            let publish: @Sendable (Int64) -> Void = { number in
                let event = ConnectorEvent(connector: "a", name: "rang", payload: .integer(number))
                host.dependencies.services.events.publish(event)
            }
            let numbers = Mutex((published: 1 as Int64, read: 0 as Int64))
            publish(1)
            do {
                try await write(
                    BodyWriter { part in
                        let event = try JSONValue(parsing: part)
                        let (number, lost) = (event["payload"]?.integer ?? 0, event["missed"]?.integer ?? 0)
                        let (last, next) = numbers.withLock { numbers in
                            let (last, first) = (numbers.read, numbers.published + 1)
                            numbers.read = number
                            // With the first part more than is kept for a reader, then as many events as are read.
                            numbers.published += last == 0 ? Int64(2 * ControlStream.capacity) : 1
                            return (last, first...numbers.published)
                        }
                        #expect(number == last + lost + 1)
                        if lost > 0 { throw CancellationError() }
                        for number in next { publish(number) }
                    }
                )
                Issue.record("the stream has ended before an event was missed")
            } catch is CancellationError {}
        }
    }

    /// The API of a host with a gate, on a socket, and a function that sends a request to it.
    private func serving(
        _ change: (inout ServerLimits) -> Void,
        _ body: (ConnectorHost, (String) throws -> RawSocket.Box) async throws -> Void
    ) async throws {
        var template = Array("/tmp/connector-control-XXXXXX".utf8CString)
        let directory = try unsafe String(cString: #require(unsafe mkdtemp(&template)))
        defer { _ = unsafe system("rm -rf '\(directory)'") }
        try await withAPI { host, api in
            var limits = ControlServer.limits
            change(&limits)
            let server = ControlServer(api, on: try ControlSocket(in: directory), limits: limits)
            async let end: Void = server.run()
            try await body(host) { request in
                let descriptor = try #require(try ControlSocket.connect(in: directory))
                let socket = RawSocket.Box(RawSocket(descriptor: descriptor))
                socket.value.send(request.utf8)
                return socket
            }
            server.stop()
            try await end
        }
    }

    private static let eventsRequest = "GET /api/v1/events HTTP/1.1\r\nHost: a\r\nAccept: application/jsonl\r\n\r\n"

    @Test func `a streamed call that is refused for lack of room is not made`() async throws {
        try await serving {
            $0.connections = 4
        } _: { host, send in
            // Half of the connections may carry streams.
            let streams = [try send(Self.eventsRequest), try send(Self.eventsRequest)]
            for stream in streams {
                #expect(await blocking { stream.value.read(until: "\r\n\r\n") }.hasPrefix("HTTP/1.1 200 "))
            }
            let body = #"{"connector": "a", "operation": "begin", "arguments": ["api-refused"]}"#
            let types = "Accept: application/jsonl\r\nContent-Type: application/json\r\n"
            let head = "POST /api/v1/calls HTTP/1.1\r\nHost: a\r\n\(types)Content-Length: \(body.utf8.count)\r\n\r\n"
            let call = try send(head + body)
            #expect(await blocking { call.value.read() }.hasPrefix("HTTP/1.1 503 "))
            let gate = try host.gate("a")
            await #expect(throws: ConnectorError.self, "there is no such call") {
                try await gate.call("progress", ["name": "api-refused", "text": "1"])
            }
            #expect(try await gate.call("counts")["cancels"] == 0)
        }
    }

    @Test func `a client that pauses keeps its stream of events`() async throws {
        try await serving {
            $0.timeout = .seconds(1)
        } _: { host, send in
            let watch = try send(Self.eventsRequest)
            #expect(await blocking { watch.value.read(until: "\r\n\r\n") }.hasPrefix("HTTP/1.1 200 "))
            func publish(_ name: String, _ payload: JSONValue = .null) {
                host.dependencies.services.events.publish(ConnectorEvent(connector: "a", name: name, payload: payload))
            }
            // More than the socket holds.
            let payload = JSONValue.string(String(repeating: "x", count: 1000))
            for _ in 0..<256 { publish("rang", payload) }
            // The server closes idle connections when the time has passed after which it would give up a client that reads nothing.
            for _ in 0..<2 {
                let idle = try send("")
                #expect(await blocking { idle.value.read() }.isEmpty)
            }
            let hasRead = Atomic(false)
            let reading = Task {
                let text = await blocking { watch.value.read(until: "\"last\"") }
                hasRead.store(true, ordering: .relaxed)
                return text
            }
            while !hasRead.load(ordering: .relaxed) {
                publish("last")
                try await Task.checkedYield()
            }
            #expect(await reading.value.contains("\"last\""))
        }
    }
}
