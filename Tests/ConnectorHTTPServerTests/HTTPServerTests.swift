// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHTTPServer

#if canImport(Glibc)
    import Glibc
#endif

/// A server and hostile clients, over real connections.
@Suite(.timeLimit(.minutes(3))) struct HTTPServerTests {
    private static let request = Array("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    private static let admit: @Sendable (ServerRequest) -> RequestAdmission = { request in
        .answer(ServerResponse(status: 200, [:], .bytes(Array("ok\n".utf8))))
    }

    @Test func `ten thousand connections that say nothing keep no client out`() async throws {
        RawSocket.raiseLimit()
        try await serving(ServerLimits(), Self.admit) { server, port in
            try await blocking {
                // Connections that were evicted are closed here, too: they only take descriptors.
                var open: [Int: RawSocket.Box] = [:]
                for number in 0..<10_000 {
                    open[number] = RawSocket.Box(try RawSocket(port: port))
                    open[number - 600] = nil
                }
                #expect(server.table.count <= 512)
                let client = try RawSocket(port: port)
                client.send(Self.request)
                #expect(client.read(until: "ok\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            #expect(try await ask(port).hasSuffix("ok\n"))
            #expect(server.table.count <= 512)
        }
    }

    #if os(Linux)
        @Test func `a burst of clients of a Unix socket that do not wait is not refused`() async throws {
            RawSocket.raiseLimit()
            let name = "connector-host-tests-\(UInt64.random(in: 0 ... .max))"
            let listener = unsafe AbstractSocket.open(name) { unsafe bind($0, $1, $2) }
            let server = HTTPServer(.socket(try #require(listener)), admit: Self.admit)
            let listening = OneShot<Int>()
            let running = Task { try await server.run { listening.send($0) } }
            _ = await listening.wait()
            let clients = try await blocking {
                (0..<600).compactMap { _ in
                    unsafe AbstractSocket.open(name) { unsafe connect($0, $1, $2) }.map {
                        RawSocket.Box(RawSocket(descriptor: $0))
                    }
                }
            }
            #expect(clients.count == 600)
            server.stop()
            try await running.value
        }
    #endif

    @Test(arguments: [(20, 4), (256, 32), (999, 124), (1024, 256), (65_536, 16_384)])
    func `a server leaves most descriptors of the process to others`(descriptors: Int, connections: Int) {
        #expect(ServerLimits.connectionLimit(amongDescriptors: descriptors) == connections)
        #expect(ServerLimits().connections <= 512)
    }

    @Test func `a server that is cancelled lets the response in progress end`() async throws {
        let (begun, released, listening) = (OneShot<Void>(), OneShot<Void>(), OneShot<Int>())
        let server = HTTPServer(.address("127.0.0.1", port: 0)) { _ in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    begun.send()
                    await released.wait()
                    return ServerResponse(status: 200, [:], .bytes(Array("late".utf8)))
                }
            )
        }
        let running = Task { try await server.run(finishingWithin: .seconds(3600)) { listening.send($0) } }
        let port = await listening.wait()
        async let answer = ask(port)
        await begun.wait()
        running.cancel()
        released.send()
        #expect(try await answer.hasSuffix("late"))
        try await running.value
    }

    @Test func `clients that send thousands of requests and read no answer keep no client out`() async throws {
        let admitted = Atomic(0)
        try await serving(ServerLimits()) { request in
            admitted.add(1, ordering: .relaxed)
            return Self.admit(request)
        } _: { server, port in
            let flood = Array(repeatElement(Self.request, count: 3000).joined())
            let open = try await blocking {
                try (0..<200).map { _ in
                    let socket = RawSocket.Box(try RawSocket(port: port))
                    _ = socket.value.offer(flood)
                    return socket
                }
            }
            for _ in 0..<20 { #expect(try await ask(port).hasSuffix("ok\n")) }
            #expect(server.table.busyCount == 0, "a request that is answered at once takes nobody's place")
            _ = open
        }
        #expect(admitted.load(ordering: .relaxed) >= 20)
    }

    @Test func `a stranger's flood costs one look per connection`() async throws {
        let admitted = Atomic(0)
        try await serving(ServerLimits()) { request in
            if request.fields["Host"] == "evil" { admitted.add(1, ordering: .relaxed) }
            return request.fields["Host"] == "evil"
                ? .answer(ServerResponse(status: 421, isLast: true)) : Self.admit(request)
        } _: { server, port in
            let flood = Array(repeatElement(Array("GET / HTTP/1.1\r\nHost: evil\r\n\r\n".utf8), count: 3000).joined())
            let answers = try await blocking {
                try (0..<100).map { _ in
                    let socket = try RawSocket(port: port)
                    _ = socket.offer(flood)
                    socket.finish()
                    return socket.read()
                }
            }
            let looks = admitted.load(ordering: .relaxed)
            #expect((1...100).contains(looks))
            #expect(answers.allSatisfy { $0.isEmpty || $0.hasPrefix("HTTP/1.1 421 ") }, "a reset may be faster")
            #expect(try await ask(port).hasSuffix("ok\n"))
        }
    }

    @Test func `clients that do not read large answers, or send large bodies slowly, keep no client out`() async throws
    {
        let large = [UInt8](repeating: 0x61, count: 8 << 20)
        try await serving(ServerLimits()) { request in
            guard request.method == "GET" else {
                return .read(
                    limit: 1 << 20,
                    tooLarge: { ServerResponse(status: 413) },
                    answer: { _ in ServerResponse(status: 200) }
                )
            }
            return request.target == "/large"
                ? .answer(ServerResponse(status: 200, [:], .bytes(large))) : Self.admit(request)
        } _: { server, port in
            let open = try await blocking {
                try (0..<600).map { number in
                    let socket = RawSocket.Box(try RawSocket(port: port))
                    let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nslow"
                    socket.value.send((number.isMultiple(of: 2) ? "GET /large HTTP/1.1\r\nHost: a\r\n\r\n" : post).utf8)
                    return socket
                }
            }
            for _ in 0..<10 { #expect(try await ask(port).hasSuffix("ok\n")) }
            #expect(server.table.count <= 512)
            _ = open
        }
    }

    @Test func `streams and slow requests are bounded, and other requests are still served beyond the bound`()
        async throws
    {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        var limits = ServerLimits()
        limits.connections = 32
        try await serving(limits) { request in
            guard request.target != "/livez" else { return Self.admit(request) }
            return .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    guard request.target == "/stream" else {
                        start.yield()
                        for await _ in AsyncStream<Void>.makeStream().stream {}
                        return ServerResponse(status: 200)
                    }
                    return ServerResponse(
                        status: 200,
                        [:],
                        .stream { writer in
                            try await writer.write(Array("begun".utf8))
                            for await _ in AsyncStream<Void>.makeStream().stream {}
                        }
                    )
                }
            )
        } _: { server, port in
            func open(_ target: String) throws -> RawSocket.Box {
                let socket = RawSocket.Box(try RawSocket(port: port))
                socket.value.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                return socket
            }
            var held: [RawSocket.Box] = []
            for _ in 0..<16 {
                let stream = try open("/stream")
                #expect(try await blocking { stream.value.read(until: "begun") }.hasPrefix("HTTP/1.1 200 "))
                held.append(stream)
            }
            #expect(try await ask(port, "/stream").hasPrefix("HTTP/1.1 503 "), "one stream too many")
            var starts = started.makeAsyncIterator()
            for _ in 0..<12 {
                held.append(try open("/work"))
                await starts.next()
            }
            #expect(server.table.busyCount == 28)
            #expect(try await ask(port, "/work").hasPrefix("HTTP/1.1 503 "), "too much at once")
            for _ in 0..<10 { #expect(try await ask(port).hasSuffix("ok\n")) }
            _ = held
        }
    }

    // MARK: Clients that have closed their side

    /// Sends requests, closes the client's side, and reads to the end.
    private func send(_ requests: String, to port: Int) async throws -> String {
        try await blocking {
            let socket = try RawSocket(port: port)
            socket.send(requests.utf8)
            socket.finish()
            return socket.read()
        }
    }

    @Test func `a client that closes its side after its last request gets every answer`() async throws {
        try await serving(answersHalfClosed: true) { request in
            guard request.target != "/work" else {
                return .read(
                    limit: 0,
                    tooLarge: { ServerResponse(status: 413) },
                    answer: { _ in ServerResponse(status: 200, [:], .bytes(Array("done\n".utf8))) }
                )
            }
            return Self.admit(request)
        } _: { _, port in
            let work = "GET /work HTTP/1.1\r\nHost: a\r\n\r\n"
            #expect(try await send(work, to: port).hasSuffix("\r\n\r\ndone\n"))
            let answers = try await send(String(repeating: work, count: 5), to: port)
            #expect(answers.matches(of: #/done\n/#).count == 5)
            #expect(try await send("\(work)GET /livez HTTP/1.1\r\n", to: port).hasSuffix("\r\n\r\ndone\n"))
            #expect(try await send("GET /livez HTTP/1.1\r\n", to: port).isEmpty)
        }
    }

    @Test(arguments: ["POST /", "GET /stream"])
    func `a client that closes its side cancels a request that changes something, and a stream`(request: String)
        async throws
    {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let wait: @Sendable () async -> Void = {
            begin.finish()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            cancel.finish()
        }
        try await serving(answersHalfClosed: true) { request in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    guard request.target != "/stream" else {
                        return ServerResponse(status: 200, [:], .stream { _ in await wait() })
                    }
                    await wait()
                    return ServerResponse(status: 200)
                }
            )
        } _: { _, port in
            let socket = RawSocket.Box(try RawSocket(port: port))
            socket.value.send("\(request) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            for await _ in begun {}
            socket.value.finish()
            for await _ in cancelled {}
            let answer = try await blocking { socket.value.read() }
            #expect(!answer.hasSuffix("0\r\n\r\n"), "it is broken off")
        }
    }

    // MARK: The end

    @Test func `a server that finishes ends idle connections at once, and busy ones after their answer`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (going, go) = AsyncStream.makeStream(of: Void.self)
        try await serving(ServerLimits()) { _ in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    begin.finish()
                    for await _ in going {}
                    return ServerResponse(status: 200, [:], .bytes(Array("done".utf8)))
                }
            )
        } _: { server, port in
            let idle = RawSocket.Box(try RawSocket(port: port))
            let answer = Task { try await ask(port) }
            for await _ in begun {}
            server.finish()
            #expect(try await blocking { idle.value.read() }.isEmpty)
            go.finish()
            #expect(try await answer.value.hasSuffix("done"))
        }
    }

    @Test func `a server that finishes ends streams, also those that begin only then`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (going, go) = AsyncStream.makeStream(of: Void.self)
        try await serving(ServerLimits()) { request in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    if request.target == "/late" {
                        begin.finish()
                        for await _ in going {}
                    }
                    return ServerResponse(
                        status: 200,
                        [:],
                        .stream { writer in
                            try await writer.write(Array("begun".utf8))
                            // Ends when the task is cancelled.
                            for await _ in AsyncStream<Void>.makeStream().stream {}
                        }
                    )
                }
            )
        } _: { server, port in
            let stream = RawSocket.Box(try RawSocket(port: port))
            stream.value.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            #expect(try await blocking { stream.value.read(until: "begun") }.hasPrefix("HTTP/1.1 200 "))
            let late = Task { try await ask(port, "/late") }
            for await _ in begun {}
            server.finish()
            #expect(try await blocking { stream.value.read() }.hasSuffix("0\r\n\r\n"), "it is complete, not broken off")
            go.finish()
            #expect(try await late.value.hasSuffix("0\r\n\r\n"))
        }
    }
}
